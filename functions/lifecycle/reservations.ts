import { claimLogFields, machineFields } from "#core/lifecycle/log-fields.ts";
import type { KnownInstance } from "#core/model/instance.ts";
import type { KubernetesObject } from "#core/model/kubernetes.ts";
import {
  CAPACITY_RESERVATION_ID,
  CAPACITY_RESERVATION_INTERRUPTIBLE,
  CAPACITY_RESERVATION_TYPE,
  CAPACITY_TYPE,
} from "#core/model/labels.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import { isExpiring } from "#core/node-class/capacity-reservations.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import { terminateClaim } from "../shared/terminate-claim.ts";

type Reserved = NodeClaimRecord & { readonly instance: KnownInstance & { readonly reservationId: string } };

/**
 * Looks after instances in capacity reservations. Those in a capacity block are drained before EC2 takes them back
 * (karpenter-provider-aws: pkg/controllers/capacityreservation/expiration/controller.go, Controller.Reconcile). An
 * instance whose reservation has ended or was cancelled becomes on-demand
 * (karpenter-provider-aws: pkg/controllers/capacityreservation/capacitytype/controller.go, Controller.Reconcile). Makes
 * no call for a cluster without such instances.
 */
export async function reconcileReservations(records: readonly NodeClaimRecord[], deps: LifecycleDeps): Promise<void> {
  const reserved = records.filter((record): record is Reserved => {
    return record.instance?.reservationId !== undefined && record.terminating === undefined;
  });
  if (reserved.length === 0) return;
  const staying = await endExpiring(reserved, deps);
  const instances = await deps.fleet.describe(staying.map(({ instance }) => instance.id));
  const outside = new Set(instances.filter(({ reservationId }) => reservationId === undefined).map(({ id }) => id));
  for (const record of staying) if (outside.has(record.instance.id)) await demote(record, deps);
}

/** Terminates the NodeClaims in capacity blocks that are about to expire; returns the records of the others. */
async function endExpiring(reserved: readonly Reserved[], deps: LifecycleDeps): Promise<readonly Reserved[]> {
  const expiring = expiringIds(await deps.kubernetes.list("EC2NodeClass"), deps.now());
  const isEnding = ({ instance }: Reserved): boolean => expiring.has(instance.reservationId);
  for (const record of reserved.filter(isEnding)) {
    if (!(await terminateClaim(record.name, "capacity_block_expiring", deps, { detail: record.instance.reservationId }))) continue;
    const fields = { ...claimLogFields(record.name), ...machineFields(record), "capacity-reservation-id": record.instance.reservationId };
    deps.log.info("initiating delete for capacity block expiration", fields);
  }
  return reserved.filter((record) => !isEnding(record));
}

function expiringIds(nodeClasses: readonly EC2NodeClass[], now: number): ReadonlySet<string> {
  const reservations = nodeClasses.flatMap(({ status }) => status?.capacityReservations ?? []);
  return new Set(reservations.filter((reservation) => isExpiring(reservation, now)).map(({ id }) => id));
}

/**
 * The labels are written before the record: after a kill in between, the record still shows that there is something to
 * do.
 */
async function demote(record: Reserved, deps: LifecycleDeps): Promise<void> {
  const { kubernetes, store, log } = deps;
  const claim = await kubernetes.get("NodeClaim", record.name);
  if (claim === undefined) return;
  if (claim.metadata.labels?.[CAPACITY_TYPE] === "reserved") await kubernetes.update("NodeClaim", onDemand(claim));
  const node = await nodeOf(claim, deps);
  if (node?.metadata.labels?.[CAPACITY_TYPE] === "reserved") await kubernetes.update("Node", onDemand(node));
  const { reservationId, ...instance } = record.instance;
  await store.update({ ...record, instance: { ...instance, capacityType: "on-demand" } });
  log.info("demoted nodeclaim from reserved to on-demand", { ...claimLogFields(record.name), "capacity-reservation-id": reservationId });
}

async function nodeOf({ status }: NodeClaim, { kubernetes }: LifecycleDeps) {
  return status?.nodeName === undefined ? undefined : kubernetes.get("Node", status.nodeName);
}

function onDemand<T extends KubernetesObject>(object: T): T {
  const {
    [CAPACITY_RESERVATION_ID]: _id,
    [CAPACITY_RESERVATION_TYPE]: _type,
    [CAPACITY_RESERVATION_INTERRUPTIBLE]: _interruptible,
    ...labels
  } = object.metadata.labels ?? {};
  return { ...object, metadata: { ...object.metadata, labels: { ...labels, [CAPACITY_TYPE]: "on-demand" } } };
}
