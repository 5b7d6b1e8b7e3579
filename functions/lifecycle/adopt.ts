import type { CapacityType } from "../../core/model/instance-type.ts";
import { CAPACITY_TYPE, INSTANCE_TYPE, INTENT, NODE_POOL, ZONE } from "../../core/model/labels.ts";
import type { NodeClaim } from "../../core/model/node-claim.ts";
import type { NodeClaimRecord } from "../../core/model/record.ts";
import { fromRfc3339 } from "../../core/status/conditions.ts";
import type { LifecycleDeps } from "../cluster-deps.ts";
import { launchedInstance } from "./launch.ts";

/**
 * Takes a claim that has no record into care: one that a person made, or all of them after the table was lost. What it was launched as is read
 * from its status, or found in EC2 by the claim's UID: the table may have been lost between a launch and its telling.
 */
export async function adopt(claim: NodeClaim, { cluster, store, fleet, now, newId }: LifecycleDeps): Promise<void> {
  const { name, uid = "", labels, annotations, creationTimestamp } = claim.metadata;
  const nodePool = labels?.[NODE_POOL];
  const instance = instanceOf(claim) ?? (await launchedInstance(fleet, cluster.name, uid));
  const types = claim.spec.requirements.find(({ key, operator }) => key === INSTANCE_TYPE && operator === "In")?.values ?? [];
  const record: NodeClaimRecord = {
    cluster: cluster.name,
    name,
    version: 0,
    intentId: annotations?.[INTENT] ?? newId(),
    uid,
    ...(nodePool !== undefined && { nodePool }),
    manifest: { metadata: { name, ...(labels && { labels }), ...(annotations && { annotations }) }, spec: claim.spec },
    reason: "adopted",
    createdAt: fromRfc3339(creationTimestamp) || now(),
    podUids: [],
    instanceTypes: types,
    pricePerHour: 0,
    launchAttempts: 0,
    ...(instance && { instance, launchedAt: fromRfc3339(creationTimestamp) || now() }),
    dueAt: now(),
  };
  await store.create(record);
}

function instanceOf(claim: NodeClaim): NodeClaimRecord["instance"] {
  const providerId = claim.status?.providerID;
  const labels = claim.metadata.labels ?? {};
  const id = providerId?.slice(providerId.lastIndexOf("/") + 1);
  if (!id) return undefined;
  return {
    id,
    instanceType: labels[INSTANCE_TYPE] ?? "",
    zone: labels[ZONE] ?? "",
    capacityType: (labels[CAPACITY_TYPE] ?? "on-demand") as CapacityType,
    imageId: claim.status?.imageID ?? "",
  };
}
