import { conditionOf, fromRfc3339 } from "../model/conditions.ts";
import { DO_NOT_DISRUPT, TERMINATION_TIMESTAMP } from "../model/labels.ts";
import type { Node } from "../model/node.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { Pod } from "../model/pod.ts";
import { doNotDisruptProblem } from "../pods/do-not-disrupt.ts";
import { isDaemonSetPod, isEvictable, isTerminating, isWaiting } from "../pods/predicates.ts";
import type { Action, ClaimView, Step } from "./action.ts";

/** At first; a drain that is held up for long is looked at ever less often, as evictions back off upstream (§12). */
const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 10_000;

/** Pods that are evicted in one pass; the next pass takes the rest. */
const EVICTIONS_AT_ONCE = 50;

/**
 * What to do about the pods that still keep the node from going (nodeclaim-lifecycle.md §12); undefined when none does.
 * Groups go one after the other: plain pods, daemons, critical pods, critical daemons.
 */
export function drain(view: ClaimView, record: NodeClaimRecord, claim: NodeClaim | undefined, node: Node): Step | undefined {
  const waiting = view.pods.filter((pod) => isWaiting(pod, view.now)).sort(byName);
  if (waiting.length === 0) return undefined;
  const forced = forcedDeletions(waiting, claim, view.now);
  if (forced.length > 0) return { actions: forced, wakeAt: view.now + RETRY_MS };
  const held = heldUntil(view, record, waiting);
  if (held !== undefined) return { actions: [], wakeAt: Math.min(held, view.now + 2 * RETRY_MS) };
  const first = Math.min(...waiting.map(groupOf));
  const reason = conditionOf(claim?.status?.conditions, "DisruptionReason")?.reason ?? "Forceful Termination";
  const evictions: readonly Action[] = waiting
    .filter((pod) => groupOf(pod) === first && isEvictable(pod, view.now))
    .slice(0, EVICTIONS_AT_ONCE)
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

/** Tells of annotations that were meant to keep a pod where it is, and do not. */
function vainProtections(pods: readonly Pod[]): readonly Action[] {
  return pods.flatMap((pod): Action[] => {
    const problem = doNotDisruptProblem(pod);
    if (problem === undefined) return [];
    const message = `Invalid ${DO_NOT_DISRUPT} annotation: ${problem}, ignoring annotation`;
    const about = { kind: "Pod", metadata: pod.metadata } as const;
    return [{ type: "Event", event: { type: "Warning", reason: "InvalidDoNotDisruptAnnotation", message, about } }];
  });
}

/** When to look again: a sixtieth of the time that the drain has taken, and in time for what a deadline forces. */
function retryAt(view: ClaimView, record: NodeClaimRecord, waiting: readonly Pod[], claim: NodeClaim | undefined): number {
  const took = view.now - (record.terminating?.at ?? view.now);
  const next = view.now + Math.min(Math.max(took / 60, RETRY_MS), LONGEST_RETRY_MS);
  const deadline = fromRfc3339(claim?.metadata.annotations?.[TERMINATION_TIMESTAMP]);
  const forced = waiting.map((pod) => forcedAt(pod, deadline)).filter((at) => at >= view.now);
  return Math.min(next, ...forced.map((at) => Math.max(at, view.now + RETRY_MS)));
}

/** The last moment at which a pod can be deleted with its whole grace period before the deadline, ms; NaN without one. */
function forcedAt(pod: Pod, deadline: number): number {
  return deadline - (pod.spec.terminationGracePeriodSeconds ?? 30) * 1_000;
}

/** With a deadline, each pod is deleted early enough to use its whole grace period, whatever budget or annotation protects it (§12 a). */
function forcedDeletions(waiting: readonly Pod[], claim: NodeClaim | undefined, now: number): readonly Action[] {
  const deadline = fromRfc3339(claim?.metadata.annotations?.[TERMINATION_TIMESTAMP]);
  if (Number.isNaN(deadline)) return [];
  return waiting
    .filter((pod) => !isTerminating(pod) || fromRfc3339(pod.metadata.deletionTimestamp) > deadline)
    .filter((pod) => now > forcedAt(pod, deadline))
    .map((pod) => ({ type: "DeletePod", pod, gracePeriodSeconds: Math.max(Math.floor((deadline - now) / 1_000), 1) }));
}

/** Time for the planner to write replacements after a notice; then the time it leaves a machine of 120 s to drain. */
const PLANNING_MS = 10_000;
const HOLD_MS = 75_000;

/**
 * After a spot interruption notice the pods stay where they are until their replacement is up: a machine that lives for two more minutes
 * serves better than none. Karpenter drains at once. The hold ends early enough for 45 s of draining.
 */
function heldUntil(view: ClaimView, record: NodeClaimRecord, waiting: readonly Pod[]): number | undefined {
  const { terminating } = record;
  if (terminating?.reason !== "spot_interrupted" || waiting.some(isTerminating)) return undefined;
  const end = terminating.at + (view.replacements.length === 0 ? PLANNING_MS : HOLD_MS);
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
