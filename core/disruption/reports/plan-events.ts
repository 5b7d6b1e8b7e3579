import type { CommandRecord, DisruptionReason } from "../../model/command-record.ts";
import { rfc3339 } from "../../model/conditions.ts";
import { DO_NOT_DISRUPT } from "../../model/labels.ts";
import { doNotDisruptEnd } from "../../pods/do-not-disrupt.ts";
import { isActive } from "../../pods/predicates.ts";
import type { PublishedEvent } from "../../ports/kubernetes.ts";
import type { BlockedNode } from "../cluster/blocked.ts";
import type { PoolBudget } from "../cluster/budget.ts";
import type { ClusterView } from "../cluster/view.ts";
import { type BalancedScore, MIN_BALANCED_SCORE } from "../consolidation/balanced.ts";
import { formatDollars } from "../prices/money.ts";
import { commandText, describeBlocked, eventReasonOf } from "./wording.ts";

/** An event, and for how long (ms) an equal one is not published again; docs/metrics-and-events.md, "Events". */
export interface DedupedEvent {
  readonly event: PublishedEvent;
  readonly windowMs: number;
}

const MINUTE_MS = 60_000;

/** The event for the NodeClaim and, if there is one, its Node; none for a claim without an instance. */
export function onBoth(view: ClusterView, claimName: string, event: Omit<PublishedEvent, "about">): readonly PublishedEvent[] {
  const machine = view.machines.get(claimName);
  if (!machine) return [];
  const { claim, node } = machine;
  return [
    ...(node ? [{ ...event, about: { kind: "Node" as const, metadata: node.metadata } }] : []),
    { ...event, about: { kind: "NodeClaim" as const, metadata: claim.metadata } },
  ];
}

/**
 * Until when a duration of the annotation karpenter.sh/do-not-disrupt protects a pod's node, and that it no longer
 * does, on each such pod of a node that is looked at (karpenter: pkg/utils/pod/scheduling.go, IsDoNotDisruptActive).
 * Karpenter's window is two minutes; the end does not move, so once an hour, as long as the API server keeps events.
 */
export function gracePeriodEvents({ machines, now }: ClusterView): readonly DedupedEvent[] {
  return [...machines.values()].flatMap(({ pods }) =>
    pods.filter(isActive).flatMap((pod): readonly DedupedEvent[] => {
      const end = doNotDisruptEnd(pod);
      if (end === undefined) return [];
      const said =
        end > now
          ? { reason: "DoNotDisruptUntil", message: `The ${DO_NOT_DISRUPT} grace period will elapse at ${rfc3339(end)}` }
          : {
              reason: "DoNotDisruptGracePeriodElapsed",
              message: `The ${DO_NOT_DISRUPT} grace period has elapsed, pod is now disruptable`,
            };
      return [{ event: { type: "Normal", ...said, about: { kind: "Pod", metadata: pod.metadata } }, windowMs: 60 * MINUTE_MS }];
    }),
  );
}

/** (karpenter: pkg/controllers/disruption/events/events.go, NodeRepairBlocked) */
function repairBlocked(view: ClusterView, nodeClaim: string, message: string): readonly DedupedEvent[] {
  const event = { type: "Warning", reason: "NodeRepairBlocked", message } as const;
  const pool = view.nodePools.get(view.machines.get(nodeClaim)?.nodePool ?? "");
  const ofPool = pool ? [{ ...event, about: { kind: "NodePool", metadata: pool.metadata } } as const] : [];
  return [...onBoth(view, nodeClaim, event), ...ofPool].map((one) => ({ event: one, windowMs: 15 * MINUTE_MS }));
}

/** Why nodes are not disrupted, on each node and its NodeClaim. */
export function blockedEvents(view: ClusterView, blocked: readonly BlockedNode[]): readonly DedupedEvent[] {
  return blocked.flatMap(({ nodeClaim, blocked: why }) => {
    const reason = eventReasonOf(why);
    if (reason === undefined) return [];
    const message = describeBlocked(why);
    if (reason === "NodeRepairBlocked") return repairBlocked(view, nodeClaim, message);
    const windowMs = reason === "Unconsolidatable" ? 15 * MINUTE_MS : 2 * MINUTE_MS;
    return onBoth(view, nodeClaim, { type: "Normal", reason, message }).map((event) => ({ event, windowMs }));
  });
}

/** An event for each NodePool whose budgets allow no disruption for the reason. */
export function budgetEvents(
  view: ClusterView,
  reason: DisruptionReason,
  budgets: ReadonlyMap<string, PoolBudget>,
): readonly DedupedEvent[] {
  return [...budgets].flatMap(([name, { total, limit }]) => {
    const pool = view.nodePools.get(name);
    if (!pool || total === 0 || limit > 0) return [];
    const message = `No allowed disruptions for disruption reason ${reason} due to blocking budget`;
    const about = { kind: "NodePool" as const, metadata: pool.metadata };
    return [{ event: { type: "Normal", reason: "DisruptionBlocked", message, about }, windowMs: MINUTE_MS }];
  });
}

/** Events for a consolidation command that is about to be validated. */
export function candidateEvents(view: ClusterView, command: CommandRecord): readonly DedupedEvent[] {
  if (command.method !== "multi" && command.method !== "single") return [];
  const message = `Consolidation candidate: ${commandText(command)} (savings: ${formatDollars(command.savingsPerHour)})`;
  return command.candidates.flatMap(({ nodeClaim }) =>
    onBoth(view, nodeClaim, { type: "Normal", reason: "ConsolidationCandidate", message }).map((event) => ({
      event,
      windowMs: 2 * MINUTE_MS,
    })),
  );
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)}%`;
}

/** Events for the approval by policy Balanced: on node and NodeClaim, or on the NodePool for several nodes. */
export function approvedEvents(view: ClusterView, command: CommandRecord, scores: readonly BalancedScore[]): readonly DedupedEvent[] {
  return scores.flatMap(({ nodePool, score, savings, disruption }) => {
    const message = `score ${score.toFixed(2)} >= threshold ${MIN_BALANCED_SCORE.toFixed(2)} (k: 2, savings ${percent(savings)}, disruption ${percent(disruption)})`;
    const event = { type: "Normal" as const, reason: "ConsolidationApproved", message };
    const pool = view.nodePools.get(nodePool);
    const events =
      command.method === "single"
        ? command.candidates.flatMap(({ nodeClaim }) => onBoth(view, nodeClaim, event))
        : pool
          ? [{ ...event, about: { kind: "NodePool" as const, metadata: pool.metadata } }]
          : [];
    return events.map((each) => ({ event: each, windowMs: 2 * MINUTE_MS }));
  });
}
