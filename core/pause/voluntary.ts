import type { NodeClaimRecord } from "../model/node-claim-record.ts";

/**
 * Reasons of ends that the autoscaler decides on for itself. EC2's notices, machines that are gone, capacity blocks
 * that end, machines that never became a node, and what a person deletes are not among them.
 */
const VOLUNTARY: ReadonlySet<string> = new Set(["empty", "underutilized", "drifted", "asleep", "expired", "unhealthy"]);

/** Whether a NodeClaim is ending because the autoscaler has decided so. */
export const isVoluntaryEnd = ({ terminating }: Pick<NodeClaimRecord, "terminating">): boolean =>
  terminating !== undefined && VOLUNTARY.has(terminating.reason);

/**
 * Functions read what is paused before an act, at most this long before it, ms: an act that follows its decision within
 * this time needs no reading of its own. Two of them, and the calls between, stay below the 10 s within which a pause
 * is in force (docs/pause.md).
 */
export const PAUSE_AGE_MS = 3_000;

/** Whether a decision was made so recently that what was paused then still counts. Another clock may be ahead. */
export const isCovered = (decidedAt: number, now: number): boolean => now >= decidedAt && now - decidedAt < PAUSE_AGE_MS;
