import { MAX_NOTICE_AGE_MS, SHORT_LIVED, whyNotConcerned } from "#core/interruption/concerns.ts";
import type { Interruption, InterruptionKind } from "#core/interruption/parse.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import type { ClusterDeps } from "./cluster-deps.ts";
import { interruptClaim } from "./interrupt-claim.ts";

// Notices of instances that no record has (yet): the table was lost, or the launch is not stored. EC2 sends a notice of
// two minutes once, and an adoption takes up to a minute. Other messages are about a state that EC2 can be asked for.

/** The notices of all clusters, because an instance without a record does not say whose it is. */
const NOTICES = "notices";

const NOTICE_OF = { spot: "spot_interrupted", reserved: "capacity_reservation_interrupted", "on-demand": undefined } as const;

const keyOf = (kind: InterruptionKind, instanceId: string): string => `${kind}/${instanceId}`;

/** Keeps a notice of an instance without a record while EC2 may yet take it; messages of other kinds are not kept. */
export async function keepNotice(
  interruption: Interruption,
  instanceId: string,
  { store, now }: { readonly store: Pick<NodeClaimStore, "isFirstWithin">; readonly now: () => number },
): Promise<void> {
  const { kind } = interruption;
  const isTimely = whyNotConcerned(interruption, {}, { account: undefined, now: now() }) === undefined;
  if (SHORT_LIVED.has(kind) && isTimely) await store.isFirstWithin(NOTICES, keyOf(kind, instanceId), now(), MAX_NOTICE_AGE_MS);
}

/** Acts on the notice that came for the instance of a record before there was the record. */
export async function interruptAsNoticed(record: NodeClaimRecord, deps: ClusterDeps): Promise<void> {
  const { instance } = record;
  if (instance === undefined) return;
  const capacityType = instance.reservationId === undefined ? instance.capacityType : "reserved";
  const kind = NOTICE_OF[capacityType];
  if (kind !== undefined && (await deps.store.wasSeen(NOTICES, keyOf(kind, instance.id), deps.now())))
    await interruptClaim(record, kind, deps);
}
