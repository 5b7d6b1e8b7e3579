import type { Rule } from "./rule.ts";

/** Pods are expected on the node: the scheduler nominated it for them at most 20 s ago. */
export const nominated: Rule = ({ name }, { nominatedUntil, now }) => {
  const until = nominatedUntil.get(name) ?? 0;
  return until > now ? { reason: "Nominated", until } : undefined;
};
