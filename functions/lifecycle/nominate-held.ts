import type { Pod } from "#core/model/pod.ts";
import { podKey } from "#core/pods/predicates.ts";
import { takesNomination } from "#core/provisioning/node-nominations.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import { heedsNominations, nominatePods } from "../shared/nominate-pods.ts";

/** Pods ("namespace/name") with their UIDs, and the name of the node that was launched for them. */
export interface HeldPods {
  readonly pods: readonly string[];
  readonly uids: readonly string[];
  readonly node: string;
}

/**
 * Reading so many pods by name costs as much as listing those that wait. No benchmark has tuned it.
 */
const FEW = 3;

/** Nominates the pods that nodes were launched for and that wait. A pod of the same name and another UID is new. */
export async function nominateHeld(held: readonly HeldPods[], deps: LifecycleDeps): Promise<void> {
  if (held.every(({ pods }) => pods.length === 0) || !(await heedsNominations(deps))) return;
  const asked = held.flatMap(({ pods, uids, node }) => {
    const known = new Set(uids);
    return pods.map((key) => ({ key, known, node }));
  });
  const present = await readPods(
    asked.map(({ key }) => key),
    deps,
  );
  const nominations = asked.flatMap(({ key, known, node }) => {
    const pod = present.get(key);
    return pod && known.has(pod.metadata.uid ?? "") && takesNomination(pod) ? [{ pod, node }] : [];
  });
  await nominatePods(nominations, deps);
}

/** Those of these pods ("namespace/name") that are not bound, as far as they exist. */
async function readPods(keys: readonly string[], { kubernetes }: Pick<LifecycleDeps, "kubernetes">): Promise<ReadonlyMap<string, Pod>> {
  const read = (key: string): Promise<Pod | undefined> => {
    const [namespace = "", name = ""] = key.split("/");
    return kubernetes.get("Pod", name, namespace);
  };
  const pods = keys.length > FEW ? await kubernetes.list("Pod", { fieldSelector: UNBOUND }) : await Promise.all(keys.map(read));
  return new Map(pods.flatMap((pod) => (pod ? [[podKey(pod), pod]] : [])));
}

const UNBOUND = "spec.nodeName=,status.phase=Pending";
