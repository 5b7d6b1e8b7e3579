import type { PlannedNodeClaim } from "../model/plan.ts";
import type { Snapshot } from "../model/snapshot.ts";
import { podKey } from "../pods/predicates.ts";

/**
 * UIDs of the pods that a planned claim is for, which its record keeps so that they are not planned again before it has launched. Virtual pods are
 * among them: room that is on its way must not be bought twice either.
 */
export function nomineesOf({ pods, virtualPods = [] }: Snapshot): (planned: PlannedNodeClaim) => readonly string[] {
  const uids = new Map([...virtualPods, ...pods].map((pod) => [podKey(pod), pod.metadata.uid ?? ""]));
  return (planned) => planned.pods.map((pod) => uids.get(pod) ?? "").filter((uid) => uid !== "");
}
