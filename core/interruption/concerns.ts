import type { CapacityType } from "../model/instance-type.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { Interruption, InterruptionKind } from "./parse.ts";

/** What a message is held against. */
interface Circumstances {
  /** Twelve digits: the account of the cluster; undefined when it is not known. */
  readonly account: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The capacity type that a kind of message is about; the others concern instances of every type. */
const CAPACITY_TYPES: Readonly<Partial<Record<InterruptionKind, CapacityType>>> = {
  spot_interrupted: "spot",
  rebalance_recommendation: "spot",
  capacity_reservation_interrupted: "reserved",
};

/** EC2 takes an instance back two minutes after these messages: an hour later, an instance that lives is kept. */
export const SHORT_LIVED: ReadonlySet<InterruptionKind> = new Set(["spot_interrupted", "capacity_reservation_interrupted"]);
export const MAX_NOTICE_AGE_MS = 10 * 60_000;
/** EventBridge delivers an event for up to a day (its longest retry), and the queue keeps messages for minutes. */
const MAX_AGE_MS = 25 * 3_600_000;
/** AWS's clocks and ours differ by less. */
const CLOCK_TOLERANCE_MS = 5 * 60_000;

/**
 * Why a message is not about the instance of this record, although it names the instance: it is of another account or
 * region, about another capacity type, or of another time. Undefined when it may be. What the message does not say is
 * not held against it, so that a notice of an unexpected shape is not lost.
 */
export function whyNotConcerned(
  { kind, account, region, time }: Interruption,
  record: Pick<NodeClaimRecord, "instance" | "launchedAt">,
  at: Circumstances,
): string | undefined {
  const { instance, launchedAt } = record;
  if (account !== undefined && at.account !== undefined && account !== at.account) return `it is of account ${account}`;
  if (region !== undefined && instance !== undefined && !isZoneOf(instance.zone, region)) return `it is of region ${region}`;
  const capacityType = CAPACITY_TYPES[kind];
  const isInReservation = capacityType === "reserved" && instance?.reservationId !== undefined;
  if (capacityType !== undefined && instance !== undefined && instance.capacityType !== capacityType && !isInReservation)
    return `it is about ${capacityType} capacity, and the instance is ${instance.capacityType}`;
  if (time === undefined) return undefined;
  const when = new Date(time).toISOString();
  if (time > at.now + CLOCK_TOLERANCE_MS) return `its time, ${when}, is to come`;
  if (at.now - time > (SHORT_LIVED.has(kind) ? MAX_NOTICE_AGE_MS : MAX_AGE_MS)) return `it is of ${when}`;
  if (launchedAt !== undefined && time < launchedAt - CLOCK_TOLERANCE_MS) return `it is of ${when}, before the instance was launched`;
  return undefined;
}

/** Whether a zone ("us-west-2a", or the local zone "us-west-2-lax-1a") is in a region ("us-west-2"). */
function isZoneOf(zone: string, region: string): boolean {
  return zone.startsWith(region) && !/^\d/.test(zone.slice(region.length));
}
