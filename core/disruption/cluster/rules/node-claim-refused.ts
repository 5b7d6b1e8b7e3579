import { podKey, podUid } from "#core/pods/predicates.ts";
import type { Rule } from "./rule.ts";

/** A replacement for the node of such a pod would be refused, too, again and again. */
export const nodeClaimRefused: Rule = ({ pods }, { snapshot: { refused } }) => {
  const pod = refused && pods.find((one) => refused.has(podUid(one)));
  return pod && { reason: "NodeClaimRefused", pod: podKey(pod), problem: refused?.get(podUid(pod)) ?? "" };
};
