// Workload objects and the pods that they own, as their controllers read and write them.

import type { Condition, KubernetesObject, LabelSelector } from "#core/model/kubernetes.ts";
import type { PersistentVolumeClaimSpec, Pod, PodSpec, PodTemplate } from "#core/model/pod.ts";
import { RefusedError } from "#core/ports/errors.ts";
import { type ApiObject, same } from "#manifests/api-object.ts";
import { hash } from "../random.ts";
import type { MutableObject } from "../store.ts";
import type { LabWorld } from "../world.ts";

/** A workload object of any kind, with the fields that its controller reads. */
export interface Workload extends KubernetesObject {
  readonly spec: {
    readonly replicas?: number;
    readonly selector?: LabelSelector;
    readonly template: PodTemplate;
    readonly volumeClaimTemplates?: readonly (KubernetesObject & { readonly spec: PersistentVolumeClaimSpec })[];
    readonly podManagementPolicy?: string;
    readonly ordinals?: { readonly start?: number };
    readonly strategy?: { readonly type?: string };
  };
}

/** batch/v1 Job. */
export interface Job extends KubernetesObject {
  readonly spec: Workload["spec"] & {
    readonly completions?: number;
    readonly parallelism?: number;
    readonly backoffLimit?: number;
    readonly suspend?: boolean;
    readonly ttlSecondsAfterFinished?: number;
    readonly podReplacementPolicy?: "TerminatingOrFailed" | "Failed";
    readonly podFailurePolicy?: {
      readonly rules?: readonly { readonly action: string; readonly onPodConditions?: readonly { readonly type: string }[] }[];
    };
  };
  readonly status?: {
    readonly active?: number;
    readonly succeeded?: number;
    readonly failed?: number;
    readonly startTime?: string;
    readonly completionTime?: string;
    readonly conditions?: readonly Condition[];
  };
}

/** batch/v1 CronJob. */
export interface CronJob extends KubernetesObject {
  readonly spec: {
    readonly schedule: string;
    readonly timeZone?: string;
    readonly concurrencyPolicy?: "Allow" | "Forbid" | "Replace";
    readonly suspend?: boolean;
    readonly startingDeadlineSeconds?: number;
    readonly successfulJobsHistoryLimit?: number;
    readonly failedJobsHistoryLimit?: number;
    readonly jobTemplate: { readonly metadata?: Partial<KubernetesObject["metadata"]>; readonly spec: Job["spec"] };
  };
  readonly status?: { readonly lastScheduleTime?: string };
}

/** The condition that ended the Job: Complete or Failed; undefined while it runs. */
export const endOf = ({ status }: Pick<Job, "status">): Condition | undefined =>
  status?.conditions?.find(({ type, status: is }) => (type === "Complete" || type === "Failed") && is === "True");

/** The objects of a kind that are not being deleted. */
export const workloads = (world: LabWorld, kind: string): readonly Workload[] =>
  (world.store.list(kind) as unknown as readonly Workload[]).filter((w) => w.metadata.deletionTimestamp === undefined);

/** The writer that a controller of kube-controller-manager is. */
export const user = (controller: string): { readonly user: string } => ({ user: `system:serviceaccount:kube-system:${controller}` });

/** Writes the status of the object when it differs. */
export function setStatus(world: LabWorld, object: KubernetesObject, status: Record<string, unknown>): void {
  const { name, namespace } = object.metadata;
  world.store.patch(object.kind ?? "", name, namespace, { ...user("controller-manager"), subresource: "status" }, (o: MutableObject) =>
    same(o.status, status) ? undefined : { ...o, status },
  );
}

/**
 * Creates a pod of the owner's template; without a name it gets a generated one. When the API server refuses the pod,
 * the owner gets an Event.
 */
export function createPod(
  world: LabWorld,
  owner: Workload,
  extra: {
    readonly name?: string;
    readonly labels?: Record<string, string>;
    readonly spec?: Partial<PodSpec>;
    readonly finalizers?: readonly string[];
  },
): void {
  const { template } = owner.spec;
  const { name, namespace = "default", uid = "" } = owner.metadata;
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...template.metadata,
      name: extra.name ?? "",
      ...(extra.name === undefined && { generateName: `${name}-` }),
      namespace,
      labels: { ...template.metadata?.labels, ...extra.labels },
      ...(extra.finalizers && { finalizers: extra.finalizers }),
      ownerReferences: [
        { apiVersion: owner.apiVersion ?? "apps/v1", kind: owner.kind ?? "", name, uid, controller: true, blockOwnerDeletion: true },
      ],
    },
    spec: { ...template.spec, ...extra.spec },
  } as ApiObject;
  try {
    world.store.create(pod, controllerOf(owner));
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    failedCreate(world, owner, error.message);
  }
}

const controllerOf = ({ kind = "" }: KubernetesObject) => user(`${kind.toLowerCase()}-controller`);

/** The reason of the Event of an owner whose pods the API server refuses. */
export const FAILED_CREATE = "FailedCreate";

/** An Event of the API, as far as the lab writes it. */
export interface OwnerEvent extends KubernetesObject {
  readonly involvedObject: { readonly kind: string; readonly name: string; readonly namespace: string; readonly uid: string };
  readonly reason: string;
  readonly message: string;
}

/** Writes the Event once: a real controller tries again and counts. */
function failedCreate(world: LabWorld, { kind = "", metadata }: Workload, message: string): void {
  const { name, namespace = "default", uid = "" } = metadata;
  const event = {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: `${name}.${hash(uid + message).toString(36)}`, namespace },
    involvedObject: { kind, name, namespace, uid },
    type: "Warning",
    reason: FAILED_CREATE,
    message: `Error creating: ${message}`,
  };
  if (!world.store.get("Event", event.metadata.name, namespace)) world.store.create(event, controllerOf({ kind, metadata }));
}

export function deletePod(world: LabWorld, pod: Pod, controller: string): void {
  const { name, namespace, uid } = pod.metadata;
  world.store.delete("Pod", name, { namespace, uid }, user(controller));
}
