import { parseDuration } from "../../lib/duration.ts";
import type { NodeClaim } from "../../model/node-claim.ts";
import type { Pod } from "../../model/pod.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import type { PodDisruptionBudget } from "../../model/workloads.ts";
import { isCurrentlyReschedulable } from "../../pods/disruption-budget.ts";
import { doNotDisruptUntil } from "../../pods/do-not-disrupt.ts";
import { selects } from "../../pods/label-selector.ts";
import { isReschedulable } from "../../pods/predicates.ts";

/** Time of one round of evictions, ms. An assumption: pods rarely need more than their default grace period of 30 s. */
export const DRAIN_MS = 30_000;

/**
 * When (ms since the epoch) a node whose drain starts at `snapshot.now` is removed: after as many rounds of evictions
 * as the PodDisruptionBudgets of its pods need, and not before every pod may be evicted; Infinity when a pod never may.
 * A terminationGracePeriod bounds the drain.
 */
export function departureOf(claim: NodeClaim, { pods, nodes, podDisruptionBudgets, now }: Snapshot): number {
  const node = nodes.find(({ spec }) => spec.providerID !== undefined && spec.providerID === claim.status?.providerID);
  const moving = node ? pods.filter((pod) => pod.spec.nodeName === node.metadata.name && isReschedulable(pod)) : [];
  const held = moving.map((pod) => heldUntil(pod, podDisruptionBudgets, now));
  const drained = Math.max(now, ...held) + DRAIN_MS * roundsOf(moving, podDisruptionBudgets);
  const grace = parseDuration(claim.spec.terminationGracePeriod ?? "");
  return grace === undefined ? drained : Math.min(drained, now + grace);
}

/** Until when (ms) the pod cannot be evicted; `now` when it can, Infinity when it never can. */
function heldUntil(pod: Pod, budgets: readonly PodDisruptionBudget[], now: number): number {
  const until = doNotDisruptUntil(pod, now);
  if (until !== undefined) return until;
  return isCurrentlyReschedulable(pod, budgets, now) ? now : Number.POSITIVE_INFINITY;
}

/** How many rounds of evictions the budgets need: each round evicts `disruptionsAllowed` pods of a budget. */
function roundsOf(pods: readonly Pod[], budgets: readonly PodDisruptionBudget[]): number {
  const rounds = budgets.map(({ metadata, spec, status }) => {
    const covered = pods.filter(
      (pod) => (pod.metadata.namespace ?? "default") === (metadata.namespace ?? "default") && selects(spec.selector, pod.metadata.labels),
    );
    return Math.ceil(covered.length / Math.max(1, status?.disruptionsAllowed ?? 1));
  });
  return Math.max(1, ...rounds);
}
