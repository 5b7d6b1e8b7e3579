import { pdbBlocking } from "#core/pods/disruption-budget.ts";
import { isEvictable, podKey } from "#core/pods/predicates.ts";
import { pdbsFor } from "../view.ts";
import type { Rule } from "./rule.ts";

/** The API would refuse the eviction of a pod now. Pods that a drain does not evict do not count. */
export const pdb: Rule = ({ pods }, view) => {
  for (const pod of pods) {
    const block = isEvictable(pod, view.now) ? pdbBlocking(pod, pdbsFor(view, pod)) : undefined;
    if (block) return { reason: block.kind === "multiple" ? "SeveralPdbs" : "Pdb", pod: podKey(pod), budgets: block.budgets };
  }
  return undefined;
};
