import { doNotDisruptUntil } from "../../../pods/do-not-disrupt.ts";
import { isActive, podKey } from "../../../pods/predicates.ts";
import type { Rule } from "./rule.ts";

/** DaemonSet and mirror pods count too: whoever annotates them means the node. */
export const podDoNotDisrupt: Rule = ({ pods }, { now }) => {
  for (const pod of pods) {
    const until = isActive(pod) ? doNotDisruptUntil(pod, now) : undefined;
    if (until !== undefined) return { reason: "PodDoNotDisrupt", pod: podKey(pod), until };
  }
  return undefined;
};
