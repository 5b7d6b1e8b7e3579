import { takesNomination } from "../../core/provisioning/node-nominations.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import { heedsNominations, nominatePods, someAtATime } from "../shared/nominate-pods.ts";

/** Pods ("namespace/name") with their UIDs, and the name of the node that was launched for them. */
export interface HeldPods {
  readonly pods: readonly string[];
  readonly uids: readonly string[];
  readonly node: string;
}

/** Nominates the pods that nodes were launched for and that wait. A pod of the same name and another UID is new. */
export async function nominateHeld(held: readonly HeldPods[], deps: LifecycleDeps): Promise<void> {
  if (!(await heedsNominations(deps))) return;
  const asked = held.flatMap(({ pods, uids, node }) => {
    const known = new Set(uids);
    return pods.map((key) => ({ key, known, node }));
  });
  const nominations = await someAtATime(asked, async ({ key, known, node }) => {
    const [namespace = "", name = ""] = key.split("/");
    const pod = await deps.kubernetes.get("Pod", name, namespace);
    return pod && known.has(pod.metadata.uid ?? "") && takesNomination(pod) ? [{ pod, node }] : [];
  });
  await nominatePods(nominations.flat(), deps);
}
