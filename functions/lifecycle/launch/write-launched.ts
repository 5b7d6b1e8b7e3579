import { logEvent } from "#core/announcements/log-events.ts";
import { launchedAs } from "#core/launch/outcome.ts";
import { NODE_NOT_FOUND, withConditions } from "#core/lifecycle/claim-status.ts";
import { claimLogFields, machineFields } from "#core/lifecycle/log-fields.ts";
import type { KnownInstance } from "#core/model/instance.ts";
import type { InstanceType } from "#core/model/instance-type.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import { MIN_BOOT_MS } from "#core/provisioning/pending-pods.ts";
import type { LifecycleDeps } from "../../shared/cluster-deps.ts";
import { writeStatus } from "../../shared/write-status.ts";
import { done, type Performer, requeue } from "../claim-state.ts";
import { readLaunchView } from "./view.ts";

/**
 * Writes onto the NodeClaim what was launched for it: labels, annotations, provider ID, image, capacity, and the
 * condition Launched.
 */
export const writeLaunched: Performer<"WriteLaunched"> = async ({ record, claim }, { state, deps }) => {
  if (record.instance === undefined) return requeue();
  const { nodeClass, instanceTypes } = await readLaunchView(claim, deps, { known: state.nodeClass });
  const context = { claim, nodeClass: nodeClass ?? unknownClass(claim), instanceTypes, caBundle: deps.cluster.caBundle };
  const { labels, annotations, ...status } = launchedAs(await withPartition(record.instance, nodeClass, deps), context);
  const metadata = { ...claim.metadata, labels, annotations: { ...claim.metadata.annotations, ...annotations } };
  const written = await deps.kubernetes.update("NodeClaim", { ...claim, metadata });
  // The next step would write the same condition: the machine has only begun to start.
  const isNew = deps.now() - (record.launchedAt ?? 0) < MIN_BOOT_MS;
  const conditions = withConditions({ now: deps.now() }, written, [
    { type: "Launched", status: "True" },
    ...(isNew ? [NODE_NOT_FOUND] : []),
  ]);
  const after = { ...written, status: { ...claim.status, ...status, conditions } };
  const shown = await writeStatus("NodeClaim", after, claim.status?.conditions, deps);
  logEvent(deps.log, "launched nodeclaim", {
    ...claimLogFields(record.name),
    ...machineFields(record),
    "price-per-hour": launchPrice(record.instance, instanceTypes).pricePerHour,
    allocatable: status.allocatable,
    reason: record.reason,
    "command-id": record.commandId,
  });
  return done({ ...state, claim: shown });
};

/**
 * EC2 chooses the partition of a placement group and reports it only in DescribeInstances. An instance that is not
 * listed yet stays without one.
 */
async function withPartition(
  instance: KnownInstance,
  nodeClass: EC2NodeClass | undefined,
  { fleet }: LifecycleDeps,
): Promise<KnownInstance> {
  if (nodeClass?.status?.placementGroup?.partitionCount === undefined || instance.partition !== undefined) return instance;
  const [found] = await fleet.describe([instance.id]);
  return found?.partition === undefined ? instance : { ...instance, partition: found.partition };
}

/** What the machine costs as of now, as far as that is known. */
export function launchPrice(
  { instanceType, zone, capacityType, reservationId }: KnownInstance,
  types: readonly InstanceType[],
): NonNullable<NodeClaimRecord["launchPrice"]> {
  const offerings = types.find(({ name }) => name === instanceType)?.offerings ?? [];
  const inZone = offerings.filter((offering) => offering.zone === zone);
  const own = inZone.find((offering) => offering.capacityType === capacityType && offering.reservationId === reservationId)?.price;
  const onDemand = inZone.find((offering) => offering.capacityType === "on-demand")?.price;
  return { ...(own && { pricePerHour: own }), ...(onDemand && { onDemandPerHour: onDemand }) };
}

/**
 * In place of an EC2NodeClass that was deleted between launch and write: the instance exists and is described without
 * it.
 */
export function unknownClass(claim: NodeClaim): EC2NodeClass {
  return {
    metadata: { name: claim.spec.nodeClassRef.name },
    spec: { subnetSelectorTerms: [], securityGroupSelectorTerms: [], amiSelectorTerms: [] },
  };
}
