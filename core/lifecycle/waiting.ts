import { isTrue } from "../model/conditions.ts";
import { type Instance, providerIdOf } from "../model/instance.ts";
import type { Node } from "../model/node.ts";
import type { NodeClaimRecord, WaitsFor } from "../model/node-claim-record.ts";
import { MIN_BOOT_MS } from "../provisioning/pending-pods.ts";
import { isEphemeralTaint } from "../scheduling/problem/node-view.ts";
import { MAX_PLANNING_MS, MAX_REPLACEMENT_WAIT_MS, REPLACEMENT_POLL_MS } from "./drain.ts";
import { heldPoll, heldUntil, readySince } from "./hold.ts";
import { isRegistered } from "./registration.ts";
import { INSTANCE_POLL_MS } from "./termination.ts";

/**
 * Most looks at a NodeClaim find that what it waits for has not come. They need not read the NodeClaim: its record says
 * what it waits for, and one look there decides whether a pass over the NodeClaim is due. A deletion or another change
 * of the NodeClaim itself is told by a wake-up of its own, or found by the sweep.
 */

const KNOWN_WAITS: ReadonlySet<unknown> = new Set<WaitsFor>(["node", "end", "replacements"]);

/** What a NodeClaim waits for; undefined when only a whole pass can tell, as of what a newer version waits for. */
export function waitOf({ waits, dueAt }: NodeClaimRecord): WaitsFor | undefined {
  return waits?.dueAt === dueAt && KNOWN_WAITS.has(waits.for) ? waits.for : undefined;
}

/**
 * When to look for a change of the node, ms since the epoch. A node joins 30 to 60 s after its launch: look every 5 s
 * for two minutes, then every 10 s. Where the webhook or the audit log tells that it has joined, lost a taint or is
 * Ready, a look each 30 s finds what they have not told; each 20 s, where a node is held for at most so long (hold.ts);
 * each 15 s, once it has joined. No benchmark has tuned it.
 */
export function nodePoll(now: number, record: NodeClaimRecord, isTold = false, hasJoined = false): number {
  const since = record.launchedAt ?? record.createdAt;
  const unjoined = record.heldFor === undefined ? 30_000 : 20_000;
  const told = hasJoined ? 15_000 : unjoined;
  const period = isTold ? told : now - since < 2 * 60_000 ? 5_000 : 10_000;
  return Math.max(now + period, since + MIN_BOOT_MS);
}

/** How long the node controllers leave their taints on a node that has become Ready. No benchmark has tuned it. */
const TAINTS_GO_MS = 5_000;

/**
 * When to look again for the node of a NodeClaim that waits for it; undefined when a pass has something to do.
 * @param young the nodes that are not initialized
 */
export function awaitNode(
  record: NodeClaimRecord,
  young: readonly Node[],
  { now, isTold = false, deadline }: { readonly now: number; readonly isTold?: boolean; readonly deadline: number },
): number | undefined {
  const { instance } = record;
  if (instance === undefined || now > deadline) return undefined;
  const providerId = providerIdOf(instance);
  const { own = [], others = [] } = Object.groupBy(young, ({ spec }) => (spec.providerID === providerId ? "own" : "others"));
  const [node, second] = own;
  // A node that the record names is no longer young, or is gone.
  if (node === undefined) return record.nodeName === undefined ? nodePoll(now, record, isTold) : undefined;
  if (second !== undefined || node.metadata.deletionTimestamp !== undefined) return undefined;
  if (!isRegistered(node)) {
    const until = heldUntil(record, node, others, now);
    return until === undefined ? undefined : heldPoll(until, now, isTold);
  }
  if (!isTrue(node.status?.conditions, "Ready")) return nodePoll(now, record, isTold, true);
  const isCleared = !(node.spec.taints ?? []).some(isEphemeralTaint);
  return isCleared || now - readySince(node) >= TAINTS_GO_MS ? undefined : nodePoll(now, record, isTold, true);
}

/** The same for a NodeClaim whose instance was told to end. */
export const awaitEnd = (instance: Instance | undefined, now: number): number | undefined =>
  instance?.state === "shutting-down" ? now + INSTANCE_POLL_MS : undefined;

/**
 * The same for a NodeClaim whose pods wait for the nodes that replace theirs: those were planned after the notice, so
 * as long as none that was has changed its state, neither has what the drain waits for.
 * @param records all records of the cluster
 */
export function awaitReplacements({ terminating }: NodeClaimRecord, records: readonly NodeClaimRecord[], now: number): number | undefined {
  if (terminating === undefined) return undefined;
  const after = records.filter(({ createdAt }) => createdAt >= terminating.at - CLOCK_TOLERANCE_MS);
  const isPlanned = now < terminating.at + (after.length > 0 ? MAX_REPLACEMENT_WAIT_MS : MAX_PLANNING_MS);
  return isPlanned && after.every(({ initializedAt }) => initializedAt === undefined) ? now + REPLACEMENT_POLL_MS : undefined;
}

/** By how much the clocks of two functions may differ, ms. */
const CLOCK_TOLERANCE_MS = 5_000;
