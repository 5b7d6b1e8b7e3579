import { conditionOf, fromRfc3339 } from "../model/conditions.ts";
import { DO_NOT_DISRUPT, TERMINATION_TIMESTAMP } from "../model/labels.ts";
import type { Node } from "../model/node.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { Pod } from "../model/pod.ts";
import { doNotDisruptProblem } from "../pods/do-not-disrupt.ts";
import { isDaemonSetPod, isEvictable, isTerminating, isWaiting } from "../pods/predicates.ts";
import type { Action, ClaimView, Step } from "./action.ts";
import { pollsEvery, pollsUntil, type Wait } from "./polls.ts";

/**
 * The first retry of an eviction, which then doubles, and the last
 * (karpenter: pkg/controllers/node/termination/terminator/eviction.go, evictionQueueMaxDelay).
 */
const MIN_RETRY_MS = 1_000;
const MAX_RETRY_MS = 10_000;

/** Between two polls for the nodes that replace the one that is drained. No benchmark has tuned it. */
const REPLACEMENT_POLL_MS = 2_000;

/** Pods evicted in one reconcile; the next one evicts the rest. No benchmark has tuned it. */
const MAX_EVICTIONS_PER_PASS = 50;

/** The view of a drain, whose pods have been read. */
type DrainView = ClaimView & { readonly pods: readonly Pod[] };

/**
 * What to do about the pods that the drain still waits for; undefined when it waits for none. Groups are evicted one
 * after the other: ordinary pods, DaemonSet pods, critical pods, critical DaemonSet pods
 * (karpenter: pkg/controllers/node/termination/terminator/terminator.go, Terminator.groupPodsByPriority).
 */
export function drain(view: DrainView, record: NodeClaimRecord, claim: NodeClaim | undefined, node: Node): Step | undefined {
  const waiting = view.pods.filter((pod) => isWaiting(pod, view.now)).sort(byName);
  if (waiting.length === 0) return undefined;
  const forced = forcedDeletions(waiting, claim, view.now);
  if (forced.length > 0) return { actions: forced, wakeAt: view.now + MIN_RETRY_MS };
  const held = heldUntil(view, record, waiting);
  if (held !== undefined) {
    if (view.replacements.length === 0) return { actions: [], wakeAt: Math.min(held, view.now + REPLACEMENT_POLL_MS) };
    return { actions: [], ...pollsEvery(REPLACEMENT_POLL_MS, held, view.now), waitsFor: "replacements" };
  }
  const reason = conditionOf(claim?.status?.conditions, "DisruptionReason")?.reason ?? "Forceful Termination";
  const evictions: readonly Action[] = evictable(waiting, view.now)
    .slice(0, MAX_EVICTIONS_PER_PASS)
    .map((pod) => ({ type: "Evict", pod, reason }));
  const event: Action = {
    type: "Event",
    event: {
      type: "Warning",
      reason: "FailedDraining",
      message: `Failed to drain node, ${waiting.length} pods are waiting to be evicted`,
      about: { kind: "Node", metadata: node.metadata },
    },
  };
  return { actions: [...evictions, event, ...vainProtections(waiting)], ...waitFor(view, record, waiting, claim) };
}

/** Of the pods that a drain waits for, the first group. */
function firstGroup(waiting: readonly Pod[]): readonly Pod[] {
  const first = Math.min(...waiting.map(groupOf));
  return waiting.filter((pod) => groupOf(pod) === first);
}

/** The pods that are evicted next. `now` in ms. */
const evictable = (waiting: readonly Pod[], now: number): readonly Pod[] => firstGroup(waiting).filter((pod) => isEvictable(pod, now));

/**
 * Whether a drain has a next step: its pods are gone; or, of the next group, some are to be evicted ("pods"), or no pod
 * is left to evict, so that it is known when all end ("evictions").
 * @param pods all pods of the node
 */
export function isDrainDue(waitsFor: "pods" | "evictions", pods: readonly Pod[], now: number): boolean {
  const waiting = pods.filter((pod) => isWaiting(pod, now));
  return waiting.length === 0 || evictable(waiting, now).length > 0 === (waitsFor === "pods");
}

/** Events about do-not-disrupt annotations that are invalid and therefore protect nothing. */
function vainProtections(pods: readonly Pod[]): readonly Action[] {
  return pods.flatMap((pod): Action[] => {
    const problem = doNotDisruptProblem(pod);
    if (problem === undefined) return [];
    const message = `Invalid ${DO_NOT_DISRUPT} annotation: ${problem}, ignoring annotation`;
    const about = { kind: "Pod", metadata: pod.metadata } as const;
    return [{ type: "Event", event: { type: "Warning", reason: "InvalidDoNotDisruptAnnotation", message, about } }];
  });
}

/** How long a kubelet takes to remove a pod whose grace period is over, ms. No benchmark has tuned it. */
const REMOVAL_MS = 1_000;

/**
 * What a drain waits for, and until when: evictions are tried again; pods that all end are gone when the last grace
 * period is over, and may be gone before. A deadline may force an earlier step.
 */
function waitFor(
  view: ClaimView,
  record: NodeClaimRecord,
  waiting: readonly Pod[],
  claim: NodeClaim | undefined,
): Wait & Pick<Step, "waitsFor"> {
  const { now } = view;
  const pods = firstGroup(waiting);
  const toEvict = evictable(waiting, now).length;
  const deletedAt = pods.filter(isTerminating).map(({ metadata }) => timeOfDeletion(metadata));
  const since = Math.max(record.terminating?.at ?? now, ...deletedAt);
  const retryMs = toEvict > MAX_EVICTIONS_PER_PASS ? MIN_RETRY_MS : Math.min(Math.max(now - since, MIN_RETRY_MS), MAX_RETRY_MS);
  const ends = pods.map(({ metadata }) => fromRfc3339(metadata.deletionTimestamp) + REMOVAL_MS);
  const end = Math.max(...ends);
  const until = toEvict > 0 ? now + retryMs : end > now ? end : Number.POSITIVE_INFINITY;
  const deadline = fromRfc3339(claim?.metadata.annotations?.[TERMINATION_TIMESTAMP]);
  const forced = waiting.map((pod) => forcedAt(pod, deadline)).filter((at) => at >= now);
  const wakeAt = Math.min(until, ...forced.map((at) => Math.max(at, now + MIN_RETRY_MS)));
  return { ...pollsUntil(wakeAt, now, end <= now ? Math.max(since, end) : since), waitsFor: toEvict > 0 ? "evictions" : "pods" };
}

const timeOfDeletion = ({ deletionTimestamp, deletionGracePeriodSeconds = 0 }: Pod["metadata"]): number =>
  fromRfc3339(deletionTimestamp) - deletionGracePeriodSeconds * 1_000;

/**
 * The last moment (ms) at which a pod can be deleted with its whole grace period before the deadline; NaN without a
 * deadline.
 */
function forcedAt(pod: Pod, deadline: number): number {
  return deadline - (pod.spec.terminationGracePeriodSeconds ?? 30) * 1_000;
}

/**
 * With a deadline, each pod is deleted early enough to use its whole grace period, whatever budget or annotation
 * protects it (karpenter: pkg/controllers/node/termination/terminator/eviction.go, needsForceDelete).
 */
function forcedDeletions(waiting: readonly Pod[], claim: NodeClaim | undefined, now: number): readonly Action[] {
  const deadline = fromRfc3339(claim?.metadata.annotations?.[TERMINATION_TIMESTAMP]);
  if (Number.isNaN(deadline)) return [];
  return waiting
    .filter((pod) => !isTerminating(pod) || fromRfc3339(pod.metadata.deletionTimestamp) > deadline)
    .filter((pod) => now > forcedAt(pod, deadline))
    .map((pod) => ({ type: "DeletePod", pod, gracePeriodSeconds: Math.max(Math.floor((deadline - now) / 1_000), 1) }));
}

/** Time for the planner to write replacements after a spot notice. No benchmark has tuned it. */
export const MAX_PLANNING_MS = 10_000;
/**
 * How long pods wait for their replacement after a spot notice: of 120 s, 45 s are left for the drain.
 * No benchmark has tuned it.
 */
export const MAX_REPLACEMENT_WAIT_MS = 75_000;

/**
 * After a spot interruption notice, the pods stay until their replacement is initialized, because an instance that runs
 * for two more minutes serves better than none. Karpenter drains at once.
 */
function heldUntil(view: ClaimView, record: NodeClaimRecord, waiting: readonly Pod[]): number | undefined {
  const { terminating } = record;
  if (terminating?.reason !== "spot_interrupted" || waiting.some(isTerminating)) return undefined;
  const end = terminating.at + (view.replacements.length === 0 ? MAX_PLANNING_MS : MAX_REPLACEMENT_WAIT_MS);
  const ready = view.replacements.length > 0 && view.replacements.every(({ initializedAt }) => initializedAt !== undefined);
  return ready || view.now >= end ? undefined : end;
}

function groupOf(pod: Pod): number {
  const critical = pod.spec.priorityClassName === "system-cluster-critical" || pod.spec.priorityClassName === "system-node-critical";
  return (critical ? 2 : 0) + (isDaemonSetPod(pod) ? 1 : 0);
}

function byName(a: Pod, b: Pod): number {
  return key(a) < key(b) ? -1 : 1;
}

function key({ metadata }: Pod): string {
  return `${metadata.namespace}/${metadata.name}`;
}
