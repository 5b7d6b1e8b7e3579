import type { Rule } from "./rule.ts";

export const nominated: Rule = ({ name }, { nominatedUntil, now }) => {
  const until = nominatedUntil.get(name) ?? 0;
  return until > now ? { reason: "Nominated", until } : undefined;
};
