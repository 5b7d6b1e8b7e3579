import type { Action } from "../../core/lifecycle/action.ts";
import { takesNomination } from "../../core/provisioning/node-nominations.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import { heedsNominations, nominatePods, someAtATime } from "../shared/nominate-pods.ts";

/** Nominates the pods that a node was launched for and that wait. A pod of the same name and another UID is new. */
export async function nominateHeld(action: Extract<Action, { type: "NominatePods" }>, deps: LifecycleDeps): Promise<void> {
  if (!(await heedsNominations(deps))) return;
  const uids = new Set(action.uids);
  const pods = await someAtATime(action.pods, (key) => {
    const [namespace = "", name = ""] = key.split("/");
    return deps.kubernetes.get("Pod", name, namespace);
  });
  const waiting = pods.flatMap((pod) => (pod && uids.has(pod.metadata.uid ?? "") && takesNomination(pod) ? [pod] : []));
  await nominatePods(
    waiting.map((pod) => ({ pod, node: action.node })),
    deps,
  );
}
