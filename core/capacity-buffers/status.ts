import type { CapacityBuffer, CapacityBufferStatus } from "../model/capacity-buffer.ts";
import { type ConditionChange, withCondition } from "../model/conditions.ts";
import type { Condition } from "../model/kubernetes.ts";
import type { Plan } from "../model/plan.ts";
import { podKey } from "../pods/predicates.ts";
import type { Headroom } from "./headroom.ts";
import { MOST_REPLICAS } from "./replicas.ts";
import { ACTIVE_CAPACITY, type Resolution } from "./resolve.ts";

/** What a run came to for the pods of one buffer. */
export interface Placement {
  /** On nodes that are there, or have been launched. */
  readonly existing: number;
  /** On nodes that are planned, or meant and not launched yet. */
  readonly onTheirWay: number;
  /** Why the others have no place. */
  readonly errors: readonly string[];
}

/**
 * Where a plan puts a buffer's pods. `nominated` holds the UIDs of pods that a claim was written for, as in Snapshot: plans leave those out until it
 * has launched.
 */
export function placementOf({ pods }: Pick<Headroom, "pods">, plan: Plan, nominated: ReadonlyMap<string, string>): Placement {
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

/** A buffer's status after a run (scheduling.md §15); an equal value when nothing has changed. */
export function bufferStatus(buffer: CapacityBuffer, resolution: Resolution, placement: Placement, now: number): CapacityBufferStatus {
  const { metadata, spec, status = {} } = buffer;
  const at = { now, ...(metadata.generation !== undefined && { generation: metadata.generation }) };
  let conditions: readonly Condition[] = status.conditions ?? [];
  for (const change of [readyForProvisioning(resolution), provisioning(resolution, placement)]) {
    conditions = withCondition(conditions, change, at);
  }
  const { podTemplateRef: _, podTemplateGeneration: __, replicas, ...rest } = status;
  const podTemplate = resolution.ready ? resolution.podTemplate : undefined;
  // What cannot be resolved now was as large as it last was.
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
  const capped = resolution.replicas === MOST_REPLICAS ? `; no buffer is made larger than ${MOST_REPLICAS} pods` : "";
  return { type, status: "True", reason: "Resolved", message: `The pods' shape and number are known${capped}` };
}

function provisioning(resolution: Resolution, { existing, onTheirWay, errors }: Placement): ConditionChange {
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
