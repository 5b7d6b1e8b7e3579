import { instanceIdOf } from "../lifecycle/garbage-collection.ts";
import { fromRfc3339 } from "../model/conditions.ts";
import type { Instance, KnownInstance } from "../model/instance.ts";
import type { CapacityType } from "../model/instance-type.ts";
import {
  CAPACITY_RESERVATION_ID,
  CAPACITY_TYPE,
  INSTANCE_TYPE,
  INTENT,
  NODE_POOL,
  PLACEMENT_GROUP_PARTITION,
  ZONE,
} from "../model/labels.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";

/** What a record keeps of an instance. */
export type RecordedInstance = KnownInstance;

/** What a record keeps of an instance that EC2 lists. */
export function recordedInstance(instance: Instance): RecordedInstance {
  const { id, instanceType, zone, capacityType, imageId, subnetId, securityGroupIds, reservationId, partition } = instance;
  return {
    ...{ id, instanceType, zone, capacityType, imageId },
    ...(subnetId !== undefined && { subnetId }),
    ...(securityGroupIds && { securityGroupIds: securityGroupIds.toSorted() }),
    ...(reservationId !== undefined && { reservationId }),
    ...(partition !== undefined && { partition }),
  };
}

/** The instance that a claim's status tells of; undefined before it tells of one. */
export function toldInstance({ metadata, status }: NodeClaim): RecordedInstance | undefined {
  const id = instanceIdOf(status?.providerID);
  if (id === undefined) return undefined;
  const { labels = {} } = metadata;
  return {
    id,
    instanceType: labels[INSTANCE_TYPE] ?? "",
    zone: labels[ZONE] ?? "",
    capacityType: (labels[CAPACITY_TYPE] ?? "on-demand") as CapacityType,
    imageId: status?.imageID ?? "",
    ...(labels[CAPACITY_RESERVATION_ID] && { reservationId: labels[CAPACITY_RESERVATION_ID] }),
    ...(labels[PLACEMENT_GROUP_PARTITION] && { partition: labels[PLACEMENT_GROUP_PARTITION] }),
  };
}

/**
 * The record of a claim that has none: a person made it, or the table was lost. What was launched for it must be given when its status does not tell, else
 * it would be launched a second time.
 * @param id the intent's, when the claim bears none.
 */
export function recordFromClaim(
  claim: NodeClaim,
  {
    cluster,
    now,
    id,
    launched,
  }: { readonly cluster: string; readonly now: number; readonly id: string; readonly launched?: RecordedInstance | undefined },
): NodeClaimRecord {
  const { name, uid = "", labels, annotations, ownerReferences, creationTimestamp } = claim.metadata;
  const nodePool = labels?.[NODE_POOL];
  const instance = toldInstance(claim) ?? launched;
  const createdAt = fromRfc3339(creationTimestamp) || now;
  return {
    cluster,
    name,
    version: 0,
    intentId: annotations?.[INTENT] ?? id,
    uid,
    ...(nodePool !== undefined && { nodePool }),
    manifest: {
      apiVersion: "karpenter.sh/v1",
      kind: "NodeClaim",
      metadata: { name, ...(labels && { labels }), ...(annotations && { annotations }), ...(ownerReferences && { ownerReferences }) },
      spec: claim.spec,
    },
    reason: "adopted",
    createdAt,
    podUids: [],
    instanceTypes: claim.spec.requirements.find(({ key, operator }) => key === INSTANCE_TYPE && operator === "In")?.values ?? [],
    pricePerHour: 0,
    launchAttempts: 0,
    ...(instance && { instance, launchedAt: createdAt }),
    dueAt: now,
  };
}
