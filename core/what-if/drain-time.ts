import { parseDuration } from "../lib/duration.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { Pod } from "../model/pod.ts";
import type { Snapshot } from "../model/snapshot.ts";
import type { PodDisruptionBudget } from "../model/workloads.ts";
import { isCurrentlyReschedulable } from "../pods/disruption-budget.ts";
import { doNotDisruptUntil } from "../pods/do-not-disrupt.ts";
import { selects } from "../pods/label-selector.ts";
import { isReschedulable } from "../pods/predicates.ts";

/** For one round of evictions to be over; an assumption: most pods take less, few as much as their grace period of 30 s. */
export const DRAIN_MS = 30_000;

/**
 * When a machine that starts to go at `snapshot.now` has gone, ms: one round of evictions, or as many as its pods' PodDisruptionBudgets make of it; later
 * where a pod may not be moved yet; Infinity where one never may. A terminationGracePeriod ends every waiting.
 */
export function departureOf(claim: NodeClaim, { pods, nodes, podDisruptionBudgets, now }: Snapshot): number {
  const node = nodes.find(({ spec }) => spec.providerID !== undefined && spec.providerID === claim.status?.providerID);
  const moving = node ? pods.filter((pod) => pod.spec.nodeName === node.metadata.name && isReschedulable(pod)) : [];
  const held = moving.map((pod) => heldUntil(pod, podDisruptionBudgets, now));
  const drained = Math.max(now, ...held) + DRAIN_MS * roundsOf(moving, podDisruptionBudgets);
  const grace = parseDuration(claim.spec.terminationGracePeriod ?? "");
  return grace === undefined ? drained : Math.min(drained, now + grace);
}

function heldUntil(pod: Pod, budgets: readonly PodDisruptionBudget[], now: number): number {
  const until = doNotDisruptUntil(pod, now);
  if (until !== undefined) return until;
  return isCurrentlyReschedulable(pod, budgets, now) ? now : Number.POSITIVE_INFINITY;
}

/** How often evictions must wait for the budgets: each lets `disruptionsAllowed` pods go at a time. */
function roundsOf(pods: readonly Pod[], budgets: readonly PodDisruptionBudget[]): number {
  const rounds = budgets.map(({ metadata, spec, status }) => {
    const covered = pods.filter(
      (pod) => (pod.metadata.namespace ?? "default") === (metadata.namespace ?? "default") && selects(spec.selector, pod.metadata.labels),
    );
    return Math.ceil(covered.length / Math.max(1, status?.disruptionsAllowed ?? 1));
  });
  return Math.max(1, ...rounds);
}
