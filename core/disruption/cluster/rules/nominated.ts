import type { Rule } from "./rule.ts";

/**
 * How long a new node stays nominated for the pods that it was launched for, ms: twice the default BATCH_MAX_DURATION
 * (karpenter: pkg/controllers/state/statenode.go, nominationWindow).
 */
export const NOMINATION_MS = 20_000;

/** Pods are expected on the node: the scheduler nominated it for them at most 20 s ago. */
export const nominated: Rule = ({ name }, { nominatedUntil, now }) => {
  const until = nominatedUntil.get(name) ?? 0;
  return until > now ? { reason: "Nominated", until } : undefined;
};
