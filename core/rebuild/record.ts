import { fromRfc3339 } from "../model/conditions.ts";
import { type Instance, instanceIdOf, type KnownInstance } from "../model/instance.ts";
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
import { CLAIM_UID_TAG, LAUNCH_GROUP_TAG, NODE_CLAIM_TAG } from "../model/tags.ts";

/** The facts of an instance that records keep. */
type RecordedInstance = KnownInstance;

/** The facts that records keep, from an instance that EC2 lists. */
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

/** The instance that a NodeClaim's status and labels describe; undefined before its launch. */
export function instanceFromStatus({ metadata, status }: NodeClaim): RecordedInstance | undefined {
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
 * The record of a NodeClaim without one: a person made the NodeClaim, or the table was lost. `launched` must be given
 * when an instance was launched that the status does not show, else a second one would be launched.
 * @param id the intentId for a NodeClaim without one
 * @param tags those of the instance, if it is known
 */
export function recordFromClaim(
  claim: NodeClaim,
  {
    cluster,
    now,
    id,
    launched,
    tags = {},
  }: {
    readonly cluster: string;
    readonly now: number;
    readonly id: string;
    readonly launched?: RecordedInstance | undefined;
    readonly tags?: Readonly<Record<string, string>>;
  },
): NodeClaimRecord {
  const { name, uid = "", labels, annotations, ownerReferences, creationTimestamp } = claim.metadata;
  const nodePool = labels?.[NODE_POOL];
  const instance = instanceFromStatus(claim) ?? launched;
  const isUntagged = instance !== undefined && LAUNCH_GROUP_TAG in tags && !(NODE_CLAIM_TAG in tags);
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
    // It was launched together with others, and the table was lost before it was tagged.
    ...(isUntagged && { dueTags: { [NODE_CLAIM_TAG]: name, [CLAIM_UID_TAG]: uid } }),
    ...(claim.status?.nodeName !== undefined && { nodeName: claim.status.nodeName }),
    dueAt: now,
  };
}
