import type { Rule } from "./rule.ts";

/** Pods are on their way to it: taking it away would break a promise that is at most 20 s old (scheduling.md §12). */
export const nominated: Rule = ({ name }, { nominatedUntil, now }) => {
  const until = nominatedUntil.get(name) ?? 0;
  return until > now ? { reason: "Nominated", until } : undefined;
};
