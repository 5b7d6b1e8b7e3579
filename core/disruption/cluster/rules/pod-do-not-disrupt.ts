import { holdsNodeUntil, podKey } from "#core/pods/predicates.ts";
import type { Rule } from "./rule.ts";

/** DaemonSet and mirror pods count too: their annotation is meant for the node. */
export const podDoNotDisrupt: Rule = ({ pods }, { now }) => {
  for (const pod of pods) {
    const until = holdsNodeUntil(pod, now);
    if (until !== undefined) return { reason: "PodDoNotDisrupt", pod: podKey(pod), until };
  }
  return undefined;
};
