import { conditionOf, fromRfc3339 } from "../model/conditions.ts";
import { DO_NOT_DISRUPT, TERMINATION_TIMESTAMP } from "../model/labels.ts";
import type { Node } from "../model/node.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { Pod } from "../model/pod.ts";
import { doNotDisruptProblem } from "../pods/do-not-disrupt.ts";
import { isDaemonSetPod, isEvictable, isTerminating, isWaiting } from "../pods/predicates.ts";
import type { Action, ClaimView, Step } from "./action.ts";

/**
 * Shortest and longest wait between two reconciles of a drain; it grows with the drain, as upstream's eviction queue
 * backs off.
 */
const MIN_RETRY_MS = 1_000;
const MAX_RETRY_MS = 10_000;

/** Between two checks for the nodes that replace the one that is drained. No benchmark has tuned it. */
export const REPLACEMENT_POLL_MS = 2_000;

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
    const isPlanned = view.replacements.length > 0;
    return { actions: [], wakeAt: Math.min(held, view.now + REPLACEMENT_POLL_MS), ...(isPlanned && { waitsFor: "replacements" }) };
  }
  const first = Math.min(...waiting.map(groupOf));
  const reason = conditionOf(claim?.status?.conditions, "DisruptionReason")?.reason ?? "Forceful Termination";
  const evictions: readonly Action[] = waiting
    .filter((pod) => groupOf(pod) === first && isEvictable(pod, view.now))
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
  return { actions: [...evictions, event, ...vainProtections(waiting)], wakeAt: retryAt(view, record, waiting, claim) };
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

/** When to check again for what has been waited for since a time (NaN: since now): after a sixtieth of it; ms. */
export function retryAfter(now: number, since = now): number {
  const took = Number.isNaN(since) ? 0 : now - since;
  return now + Math.min(Math.max(took / 60, MIN_RETRY_MS), MAX_RETRY_MS);
}

/** When to check a drain again, in time for what a deadline forces. */
function retryAt(view: ClaimView, record: NodeClaimRecord, waiting: readonly Pod[], claim: NodeClaim | undefined): number {
  const next = retryAfter(view.now, record.terminating?.at);
  const deadline = fromRfc3339(claim?.metadata.annotations?.[TERMINATION_TIMESTAMP]);
  const forced = waiting.map((pod) => forcedAt(pod, deadline)).filter((at) => at >= view.now);
  return Math.min(next, ...forced.map((at) => Math.max(at, view.now + MIN_RETRY_MS)));
}

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
