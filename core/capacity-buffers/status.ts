import type { CapacityBuffer, CapacityBufferStatus } from "../model/capacity-buffer.ts";
import { type ConditionChange, withCondition } from "../model/conditions.ts";
import type { Condition } from "../model/kubernetes.ts";
import type { Plan } from "../model/plan.ts";
import { podKey } from "../pods/predicates.ts";
import type { Headroom } from "./headroom.ts";
import { MAX_REPLICAS, MAX_VIRTUAL_PODS } from "./replicas.ts";
import { ACTIVE_CAPACITY, type Resolution } from "./resolve.ts";

/** Where a plan puts the virtual pods of one buffer. */
export interface BufferPlacement {
  /** Pods on nodes that exist or are launched. */
  readonly existing: number;
  /** Pods on nodes that are planned, or written and not launched. */
  readonly onTheirWay: number;
  /** Why the other pods have no node. */
  readonly errors: readonly string[];
}

/**
 * Where a plan puts a buffer's virtual pods. `nominated` holds the UIDs of pods that a NodeClaim was written for, as in
 * Snapshot: plans leave those pods out until the NodeClaim is launched.
 */
export function placementOf({ pods }: Pick<Headroom, "pods">, plan: Plan, nominated: ReadonlyMap<string, string>): BufferPlacement {
  const keys = new Set(pods.map(podKey));
  const count = (places: readonly { readonly pods: readonly string[] }[]): number =>
    places.reduce((sum, place) => sum + place.pods.filter((pod) => keys.has(pod)).length, 0);
  const waiting = pods.filter(({ metadata }) => nominated.has(metadata.uid ?? "")).length;
  return {
    existing: count(plan.existingNodes),
    onTheirWay: count(plan.newNodeClaims) + waiting,
    errors: Object.entries(plan.podErrors).flatMap(([pod, error]) => (keys.has(pod) ? [error] : [])),
  };
}

/**
 * A buffer's status after a run; an equal value when nothing has changed
 * (karpenter: pkg/controllers/provisioning/buffers.go, computeProvisioningCondition).
 */
export function bufferStatus(
  buffer: CapacityBuffer,
  resolution: Resolution,
  placement: BufferPlacement,
  now: number,
): CapacityBufferStatus {
  const { metadata, spec, status = {} } = buffer;
  const at = { now, ...(metadata.generation !== undefined && { generation: metadata.generation }) };
  let conditions: readonly Condition[] = status.conditions ?? [];
  for (const change of [readyForProvisioning(resolution), provisioning(resolution, placement)]) {
    conditions = withCondition(conditions, change, at);
  }
  const { podTemplateRef: _, podTemplateGeneration: __, replicas, ...rest } = status;
  const podTemplate = resolution.ready ? resolution.podTemplate : undefined;
  // A buffer that cannot be resolved keeps the size of the last run.
  const size = resolution.ready ? resolution.replicas : replicas;
  return {
    ...rest,
    ...(podTemplate && { podTemplateRef: { name: podTemplate.name }, podTemplateGeneration: podTemplate.generation }),
    ...(size !== undefined && { replicas: size }),
    provisioningStrategy: spec.provisioningStrategy ?? ACTIVE_CAPACITY,
    conditions,
  };
}

function readyForProvisioning(resolution: Resolution): ConditionChange {
  const type = "ReadyForProvisioning";
  if (!resolution.ready) return { type, status: "False", reason: resolution.reason, message: resolution.message };
  const { wanted, replicas } = resolution;
  const capped =
    replicas < wanted
      ? `; room is made for ${replicas} of ${wanted}: a buffer gets at most ${MAX_REPLICAS}, and all buffers together ${MAX_VIRTUAL_PODS}`
      : "";
  return { type, status: "True", reason: "Resolved", message: `The pods' shape and number are known${capped}` };
}

function provisioning(resolution: Resolution, { existing, onTheirWay, errors }: BufferPlacement): ConditionChange {
  const type = "Provisioning";
  if (!resolution.ready) {
    const message = "No room is made before ReadyForProvisioning is True";
    return { type, status: "False", reason: "NotReadyForProvisioning", message };
  }
  const { replicas } = resolution;
  if (replicas === 0) {
    const message = "The buffer comes to 0 pods; see spec.replicas, percentage and limits";
    return { type, status: "False", reason: "BufferEmpty", message };
  }
  if (existing === replicas) {
    return { type, status: "True", reason: "FitsExistingCapacity", message: `There is room for all ${replicas} pods` };
  }
  const coming = onTheirWay > 0 ? `; nodes for ${onTheirWay} are on their way` : "";
  const failed = errors.length > 0 ? `; for ${errors.length} none can be made: ${errors[0]}` : "";
  const message = `There is room for ${existing} of ${replicas} pods${coming}${failed}`;
  return { type, status: "False", reason: "RequiresNewCapacity", message };
}
