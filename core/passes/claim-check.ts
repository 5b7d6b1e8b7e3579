import { MAX_PLANNING_MS, MAX_REPLACEMENT_WAIT_MS } from "../lifecycle/drain.ts";
import { heldPoll, heldUntil, nodePoll, readyGroup, readySince, takesPods } from "../lifecycle/hold.ts";
import { isRegistered } from "../lifecycle/registration.ts";
import { registrationDeadline } from "../lifecycle/time-limits.ts";
import { isTrue } from "../model/conditions.ts";
import { type Instance, providerIdOf } from "../model/instance.ts";
import type { Node } from "../model/node.ts";
import type { NodeClaimRecord, WaitsFor } from "../model/node-claim-record.ts";
import type { WakeUp } from "../ports/wake-ups.ts";
import { isEphemeralTaint } from "../scheduling/problem/node-view.ts";

/**
 * When the reconcile of a NodeClaim may be left out. Most wake-ups find that what the NodeClaim waits for has not come.
 * They need not read the NodeClaim: its record says what it waits for, and one call says whether a reconcile is due. A
 * deletion or another change of the NodeClaim itself sends a wake-up of its own, or the sweep finds it.
 */

/** What a wake-up for a NodeClaim says of its cause. */
export type ClaimCause = Pick<Extract<WakeUp, { readonly kind: "claim" }>, "dueAt" | "about" | "isPoll"> & {
  /** When it was sent, ms since the epoch. */
  readonly sentAt?: number;
};

/**
 * What a process remembers of its last check of a NodeClaim: the time that it was due, and when the next one is; ms.
 */
interface LastCheck {
  readonly dueAt: number;
  readonly wakeAt: number;
}

/** A wake-up that arrives before its time is in the record would be dropped as one of another chain. */
export const MIN_DELAY_MS = 1_000;

/** Whether a wake-up names a cause, so that the record alone may say that it needs no reconcile. */
export const isCheckable = ({ dueAt, about }: ClaimCause): boolean => dueAt !== undefined || about !== undefined;

/**
 * What a wake-up with a cause needs: a "check" whether what the NodeClaim waits for has come, a "reconcile", or nothing
 * ("skip").
 *
 * | cause | record | |
 * | --- | --- | --- |
 * | the time `dueAt` | gone, or due at another time: another wake-up continues | skip |
 * | the time `dueAt` | this process has sent the wake-up for the next check: delivered twice | skip |
 * | a node has joined | its node is held: it is registered once it is Ready, and that sends its own wake-up | skip |
 * | its node has changed | its node was initialized after the event: the event is stale | skip |
 * | any | gone: it ends here, or the sweep adopts the NodeClaim | reconcile |
 * | any | there | check |
 */
export function claimPass(
  { dueAt, about, sentAt = Number.NaN }: ClaimCause,
  record: NodeClaimRecord | undefined,
  last: LastCheck | undefined,
  now: number,
): "skip" | "check" | "reconcile" {
  if (dueAt !== undefined && record?.dueAt !== dueAt) return "skip";
  // Nothing is written between checks, so each extra one would begin a chain of its own, which doubles again.
  if (dueAt !== undefined && last?.dueAt === dueAt && now < last.wakeAt - MIN_DELAY_MS) return "skip";
  if (record === undefined) return "reconcile";
  if (about === "new-node" && record.heldFor !== undefined) return "skip";
  if (about !== undefined && record.initializedAt !== undefined && sentAt <= record.initializedAt) return "skip";
  return "check";
}

/** What a check has found without a reconcile. */
export interface Waiting {
  /** When the next check is due, ms since the epoch. */
  readonly nextCheckAt: number;
  /** What the event reported has been observed, such as a node that is Ready and waits for others. */
  readonly observed?: boolean;
  /** Another pass does what is due; the next check is for the case that it is killed. */
  readonly ownedByOtherPass?: boolean;
  /** The wake-ups for the next checks were sent when the wait began (core/lifecycle/polls.ts). */
  readonly isScheduled?: boolean;
}

const KNOWN_WAITS: ReadonlySet<unknown> = new Set<WaitsFor>(["node", "end", "replacements", "pods", "evictions", "volumes"]);

/** What a NodeClaim waits for; undefined when only a reconcile can say, as of what a newer version waits for. */
export function waitOf({ waits, dueAt }: NodeClaimRecord): WaitsFor | undefined {
  return waits?.dueAt === dueAt && KNOWN_WAITS.has(waits.for) ? waits.for : undefined;
}

/** A check by which another pass does what is due. */
export const ownedByOther = (now: number): Waiting => ({
  nextCheckAt: heldPoll(Number.POSITIVE_INFINITY, now),
  observed: true,
  ownedByOtherPass: true,
});

/**
 * The check of a NodeClaim that waits for its node: it waits on, or its node is one of a group of Ready nodes that one
 * pass uncordons, or a reconcile is due ("reconcile").
 * @param young the nodes that are not initialized
 * @param isNews something has changed; otherwise only time has passed
 */
export function nodeCheck(
  record: NodeClaimRecord,
  young: readonly Node[],
  { now, hasEventSource, isNews }: { readonly now: number; readonly hasEventSource: boolean; readonly isNews: boolean },
): Waiting | { readonly uncordon: readonly Node[] } | "reconcile" {
  const own = young.filter((node) => isOwn(node, record));
  // Another pass has initialized the node and is about to record it.
  if (isNews && record.nodeName !== undefined && own.length === 0) return ownedByOther(now);
  const nextCheckAt = nextNodeCheck(record, young, { now, hasEventSource, deadline: registrationDeadline(record) });
  if (nextCheckAt !== undefined) return { nextCheckAt, observed: own.some(takesPods) };
  const [node, second] = own;
  const others = young.filter((one) => one !== node);
  const uncordon = node === undefined || second !== undefined ? undefined : readyGroup(record, node, others, now);
  return uncordon ? { uncordon } : "reconcile";
}

const isOwn = ({ spec }: Node, { instance }: NodeClaimRecord): boolean =>
  instance !== undefined && spec.providerID === providerIdOf(instance);

/** How long the node controllers leave their taints on a node that has become Ready. No benchmark has tuned it. */
const TAINTS_GO_MS = 5_000;

/**
 * When to check again for the node of a NodeClaim that waits for it; undefined when there is something to do.
 * @param young the nodes that are not initialized
 */
export function nextNodeCheck(
  record: NodeClaimRecord,
  young: readonly Node[],
  { now, hasEventSource = false, deadline }: { readonly now: number; readonly hasEventSource?: boolean; readonly deadline: number },
): number | undefined {
  const { instance } = record;
  if (instance === undefined || now > deadline) return undefined;
  const { own = [], others = [] } = Object.groupBy(young, (node) => (isOwn(node, record) ? "own" : "others"));
  const [node, second] = own;
  // A node that the record names is no longer young, or is gone.
  if (node === undefined) return record.nodeName === undefined ? nodePoll(now, record, hasEventSource) : undefined;
  if (second !== undefined || node.metadata.deletionTimestamp !== undefined) return undefined;
  if (!isRegistered(node)) {
    const until = heldUntil(record, node, others, now);
    return until === undefined ? undefined : heldPoll(until, now, hasEventSource);
  }
  if (!isTrue(node.status?.conditions, "Ready")) return nodePoll(now, record, hasEventSource, true);
  const isCleared = !(node.spec.taints ?? []).some(isEphemeralTaint);
  return isCleared || now - readySince(node) >= TAINTS_GO_MS ? undefined : nodePoll(now, record, hasEventSource, true);
}

/** Whether the instance of a NodeClaim has ended. A list may show an instance that has ended as one that runs. */
export const hasEnded = (instance: Instance | undefined): boolean => instance === undefined || instance.state === "terminated";

/**
 * Whether the pods of a NodeClaim still wait for the nodes that replace theirs. Those were planned after the notice:
 * while the state of each of them is the same, so is what the drain waits for.
 * @param records all records of the cluster
 */
export function awaitsReplacements({ terminating }: NodeClaimRecord, records: readonly NodeClaimRecord[], now: number): boolean {
  if (terminating === undefined) return false;
  const after = records.filter(({ createdAt }) => createdAt >= terminating.at - CLOCK_TOLERANCE_MS);
  const isPlanned = now < terminating.at + (after.length > 0 ? MAX_REPLACEMENT_WAIT_MS : MAX_PLANNING_MS);
  return isPlanned && after.every(({ initializedAt }) => initializedAt === undefined);
}

/** By how much the clocks of two functions may differ, ms. */
const CLOCK_TOLERANCE_MS = 5_000;
