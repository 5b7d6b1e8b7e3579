import type { KubernetesObject } from "#core/model/kubernetes.ts";
import type { Pod } from "#core/model/pod.ts";
import { FAILED_CREATE, type OwnerEvent } from "./world/actors/owned-pods.ts";
import type { LabWorld } from "./world/world.ts";

/** Pods that the API server refuses, so that they do not exist. */
export interface RefusedPods {
  /** The object that the user wrote: a Deployment and not its ReplicaSet, or a pod of its own. */
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** As the API server says it. */
  readonly message: string;
}

/** The workloads that have no pods because the API server refuses them. */
export function withoutPods({ store }: LabWorld): readonly RefusedPods[] {
  const pods = store.list("Pod") as readonly Pod[];
  return (store.list("Event") as unknown as readonly OwnerEvent[]).flatMap(({ reason, involvedObject, message }) => {
    const { namespace, uid } = involvedObject;
    const owner = store.byUid(uid) as KubernetesObject | undefined;
    const hasPods = pods.some(({ metadata }) => metadata.ownerReferences?.some((reference) => reference.uid === uid));
    if (reason !== FAILED_CREATE || owner === undefined || hasPods) return [];
    const written = owner.metadata.ownerReferences?.find(({ controller }) => controller) ?? involvedObject;
    return { kind: written.kind, namespace, name: written.name, message };
  });
}

export function refusedText({ kind, namespace, name, message }: RefusedPods): string {
  const object = `${kind} ${namespace}/${name}`;
  const what = kind === "Pod" ? `${object} was not created` : `${object} has no pods`;
  return `${what}: ${message}; apply that PriorityClass, or correct priorityClassName`;
}
