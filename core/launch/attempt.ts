import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import { failureReason } from "./failure.ts";
import type { LaunchError } from "./fleet-request.ts";

/** How long EC2 may not list what it has launched, ms. No benchmark has tuned it. */
export const LAUNCH_UNLISTED_MS = 60_000;

/**
 * Whether EC2 lists what the calls of a request have launched: the first one at `requestedAt`, and those whose outcome
 * is unknown, the last at `unknownAt`; ms.
 */
export const isListed = (
  { requestedAt = 0, unknownAt = 0 }: { readonly requestedAt?: number | undefined; readonly unknownAt?: number | undefined },
  now: number,
): boolean => now - Math.max(requestedAt, unknownAt) >= LAUNCH_UNLISTED_MS;

/** Enough attempts to request every instance type of a wide NodePool, sixty at a time. */
const MAX_ATTEMPTS_WITHOUT_PAUSE = 10;

/** The record for the next attempt: it follows at once, but a launch that keeps failing pauses as after any failure. */
export function pausedAfterMany(record: NodeClaimRecord, now: number): NodeClaimRecord {
  return record.launchAttempts < MAX_ATTEMPTS_WITHOUT_PAUSE ? record : { ...record, launchFailedAt: now };
}

/** The record without a launch in progress. */
export function withoutLaunch(record: NodeClaimRecord): NodeClaimRecord {
  const { launch: _sent, launchRequestedAt: _at, launchUnknownAt: _unknown, ...rest } = record;
  return rest;
}

/** The error of a launch that EC2 or IAM has refused as a whole. */
export const refusedFor = ({ message }: Error): LaunchError => ({ kind: "Refused", reason: failureReason(message), message });
