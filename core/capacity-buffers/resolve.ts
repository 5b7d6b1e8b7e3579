import type { CapacityBuffer, PodTemplateObject } from "../model/capacity-buffer.ts";
import type { PodTemplate } from "../model/pod.ts";
import { podRequests } from "../model/pod-requests.ts";
import type { Workload } from "../model/workloads.ts";
import { MAX_REPLICAS, replicasOf } from "./replicas.ts";
import { bufferProblems } from "./validate.ts";
import { placeholderSpec } from "./virtual-pods.ts";

/** The only known strategy: reserve room on real nodes. */
export const ACTIVE_CAPACITY = "buffer.x-k8s.io/active-capacity";

/** The objects that buffers may reference. */
export interface Referents {
  readonly podTemplates: readonly PodTemplateObject[];
  readonly deployments: readonly Workload[];
  readonly statefulSets: readonly Workload[];
  readonly replicaSets: readonly Workload[];
}

/** The virtual pods of a buffer, or why they cannot be determined. */
export type Resolution =
  | {
      readonly ready: true;
      readonly template: PodTemplate;
      /** Pods that the buffer asks for. */
      readonly wanted: number;
      /** Pods that room is made for: fewer where buffers ask for more than plans are made for (replicas.ts). */
      readonly replicas: number;
      /** Set when the buffer references a PodTemplate. */
      readonly podTemplate?: { readonly name: string; readonly generation: number };
    }
  | {
      readonly ready: false;
      readonly reason: "ResolutionFailed" | "PodTemplateNotFound" | "ScalableRefNotFound";
      readonly message: string;
    };

/** Kinds that a scalableRef may reference, all of group "apps". */
const SCALABLE_KINDS = ["Deployment", "StatefulSet", "ReplicaSet"] as const;
type ScalableKind = (typeof SCALABLE_KINDS)[number];

/** Whether a scalableRef references a known kind. A missing group means "apps". */
export function isScalable(ref: { readonly apiGroup?: string; readonly kind: string }): ref is { readonly kind: ScalableKind } {
  return (ref.apiGroup || "apps") === "apps" && SCALABLE_KINDS.some((kind) => kind === ref.kind);
}

/**
 * Resolves the references of a buffer and the number of its virtual pods
 * (karpenter: pkg/controllers/capacitybuffer/controller.go, Controller.resolveAndUpdateStatus).
 */
export function resolve(buffer: CapacityBuffer, referents: Referents): Resolution {
  const { provisioningStrategy = ACTIVE_CAPACITY, podTemplateRef, scalableRef } = buffer.spec;
  if (provisioningStrategy !== ACTIVE_CAPACITY)
    return failed(`provisioningStrategy ${provisioningStrategy} is not known; leave it out, or set it to ${ACTIVE_CAPACITY}`);
  // The API server has not validated an object of another CRD, or of a scenario.
  const [problem] = bufferProblems(buffer.spec);
  if (problem !== undefined) return failed(`spec ${problem}`);
  try {
    if (podTemplateRef) return fromPodTemplate(buffer, podTemplateRef.name, referents);
    if (scalableRef) return fromScalable(buffer, scalableRef, referents);
  } catch (error) {
    // A text that is not a quantity, in limits or in the pods' requests.
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
  return { ready: true, template: found.template, ...sized(buffer, found.template, undefined), podTemplate };
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
  return { ready: true, template, ...sized(buffer, template, scale) };
}

function sized({ spec }: CapacityBuffer, template: PodTemplate, scale: number | undefined) {
  const wanted = replicasOf(spec, scale, podRequests({ spec: placeholderSpec(template.spec) }));
  return { wanted, replicas: Math.min(wanted, MAX_REPLICAS) };
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
