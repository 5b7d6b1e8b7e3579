import type { PlannedNodeClaim } from "../model/plan.ts";
import type { Snapshot } from "../model/snapshot.ts";
import { podKey } from "../pods/predicates.ts";

/**
 * UIDs of the pods of a planned NodeClaim. Its record keeps them, so that the pods are not planned again
 * (nominations.ts). Virtual pods are among them, because their room must not be launched twice either.
 */
export function nomineesOf({ pods, virtualPods = [] }: Snapshot): (planned: PlannedNodeClaim) => readonly string[] {
  const uids = new Map([...virtualPods, ...pods].map((pod) => [podKey(pod), pod.metadata.uid ?? ""]));
  return (planned) => planned.pods.map((pod) => uids.get(pod) ?? "").filter((uid) => uid !== "");
}
