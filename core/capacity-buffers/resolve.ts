import type { CapacityBuffer, PodTemplateObject } from "../model/capacity-buffer.ts";
import type { PodTemplate } from "../model/pod.ts";
import { podRequests } from "../model/pod-requests.ts";
import type { Workload } from "../model/workloads.ts";
import { replicasOf } from "./replicas.ts";
import { bufferProblems } from "./validate.ts";
import { placeholderSpec } from "./virtual-pods.ts";

/** The one strategy that is known: room that is really there. */
export const ACTIVE_CAPACITY = "buffer.x-k8s.io/active-capacity";

/** What buffers may refer to, by namespace and name. */
export interface Referents {
  readonly podTemplates: readonly PodTemplateObject[];
  readonly deployments: readonly Workload[];
  readonly statefulSets: readonly Workload[];
  readonly replicaSets: readonly Workload[];
}

/** The pods that a buffer keeps room for, or why it cannot be told. */
export type Resolution =
  | {
      readonly ready: true;
      readonly template: PodTemplate;
      readonly replicas: number;
      /** Set when the shape is a PodTemplate's. */
      readonly podTemplate?: { readonly name: string; readonly generation: number };
    }
  | {
      readonly ready: false;
      readonly reason: "ResolutionFailed" | "PodTemplateNotFound" | "ScalableRefNotFound";
      readonly message: string;
    };

/** Kinds that a scalableRef may name, all of group "apps". */
export const SCALABLE_KINDS = ["Deployment", "StatefulSet", "ReplicaSet"] as const;
export type ScalableKind = (typeof SCALABLE_KINDS)[number];

/** Whether a scalableRef names a kind that is known here. No group means "apps". */
export function isScalable(ref: { readonly apiGroup?: string; readonly kind: string }): ref is { readonly kind: ScalableKind } {
  return (ref.apiGroup || "apps") === "apps" && SCALABLE_KINDS.some((kind) => kind === ref.kind);
}

/** Looks up what a buffer refers to, and how much of it is wanted (scheduling.md §15). */
export function resolve(buffer: CapacityBuffer, referents: Referents): Resolution {
  const { provisioningStrategy = ACTIVE_CAPACITY, podTemplateRef, scalableRef } = buffer.spec;
  if (provisioningStrategy !== ACTIVE_CAPACITY)
    return failed(`provisioningStrategy ${provisioningStrategy} is not known; leave it out, or set it to ${ACTIVE_CAPACITY}`);
  // Of a definition that is not ours, or of a scenario, the API server's word is not to be had.
  const [problem] = bufferProblems(buffer.spec);
  if (problem !== undefined) return failed(`spec ${problem}`);
  try {
    if (podTemplateRef) return fromPodTemplate(buffer, podTemplateRef.name, referents);
    if (scalableRef) return fromScalable(buffer, scalableRef, referents);
  } catch (error) {
    // A quantity that is none, in limits or in the pods' requests.
    if (error instanceof RangeError) return failed(error.message);
    throw error;
  }
  return failed("neither podTemplateRef nor scalableRef is set; name a PodTemplate, or a Deployment, StatefulSet or ReplicaSet");
}

function failed(message: string): Resolution {
  return { ready: false, reason: "ResolutionFailed", message };
}

function fromPodTemplate(buffer: CapacityBuffer, name: string, { podTemplates }: Referents): Resolution {
  const found = named(podTemplates, buffer, name);
  if (found === undefined) {
    const message = `PodTemplate ${namespaceOf(buffer)}/${name} does not exist; create it, or correct spec.podTemplateRef`;
    return { ready: false, reason: "PodTemplateNotFound", message };
  }
  const podTemplate = { name, generation: found.metadata.generation ?? 0 };
  return { ready: true, template: found.template, replicas: sized(buffer, found.template, undefined), podTemplate };
}

function fromScalable(buffer: CapacityBuffer, ref: NonNullable<CapacityBuffer["spec"]["scalableRef"]>, referents: Referents): Resolution {
  if (!isScalable(ref)) {
    const what = `${ref.apiGroup ? `${ref.apiGroup}/` : ""}${ref.kind}`;
    return failed(`scalableRef names a ${what}; only Deployments, StatefulSets and ReplicaSets of group apps can be followed`);
  }
  const lists = { Deployment: referents.deployments, StatefulSet: referents.statefulSets, ReplicaSet: referents.replicaSets };
  const found = named(lists[ref.kind], buffer, ref.name);
  if (found === undefined) {
    const message = `${ref.kind} ${namespaceOf(buffer)}/${ref.name} does not exist; create it, or correct spec.scalableRef`;
    return { ready: false, reason: "ScalableRefNotFound", message };
  }
  const { template, replicas: scale = 1 } = found.spec;
  return { ready: true, template, replicas: sized(buffer, template, scale) };
}

function sized({ spec }: CapacityBuffer, template: PodTemplate, scale: number | undefined): number {
  return replicasOf(spec, scale, podRequests(placeholderSpec(template.spec)));
}

function named<T extends { readonly metadata: CapacityBuffer["metadata"] }>(
  objects: readonly T[],
  buffer: CapacityBuffer,
  name: string,
): T | undefined {
  return objects.find((object) => object.metadata.name === name && namespaceOf(object) === namespaceOf(buffer));
}

function namespaceOf({ metadata }: { readonly metadata: CapacityBuffer["metadata"] }): string {
  return metadata.namespace ?? "default";
}
