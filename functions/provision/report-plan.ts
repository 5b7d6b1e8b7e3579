import { logEvent } from "#core/announcements/log-events.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { Plan, PlannedNodeClaim } from "#core/model/plan.ts";
import { waitsForMorning } from "#core/node-pool/schedule.ts";
import { podKey } from "#core/pods/predicates.ts";
import type { PendingPods } from "#core/scheduling/solve.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";

/** A plan in the parts that are reported. */
interface PlanParts {
  readonly plan: Plan;
  /** Without virtual pods. */
  readonly real: Plan;
  /** Without errors that the next plan may not have. */
  readonly final: Plan;
  readonly records: readonly NodeClaimRecord[];
  readonly pending: PendingPods;
  /** Pods by the zone that they may go to (podsByEffectiveZone). */
  readonly zones: ReadonlyMap<string, number>;
}

/**
 * Writes the log lines and metrics of a plan, in Karpenter's words
 * (karpenter: pkg/controllers/provisioning/scheduling/scheduler.go, Results.Record).
 */
export function reportPlan(
  { plan, real, final, records, zones, pending: { pods: pending, virtual, ignored } }: PlanParts,
  deps: ClusterDeps,
  tookMs: number,
): void {
  const log = deps.log.with({ controller: "provisioner", namespace: "", name: "" });
  if (records.length > 0) {
    log.info("found provisionable pod(s)", { Pods: andOthers([...pending, ...virtual].map(podKey)), duration: `${tookMs}ms` });
    const pods = plan.newNodeClaims.reduce((sum, claim) => sum + claim.pods.length, 0);
    log.info("computed new nodeclaim(s) to fit pod(s)", { nodeclaims: records.length, pods });
  }
  const onNodes = real.existingNodes.filter(({ pods }) => pods.length > 0);
  if (onNodes.length > 0) {
    const pods = onNodes.reduce((sum, node) => sum + node.pods.length, 0);
    logEvent(log, "computed unready node(s) will fit pod(s)", { nodes: onNodes.length, pods });
  }
  records.forEach((record, index) => {
    const planned = plan.newNodeClaims[index] as PlannedNodeClaim;
    logEvent(log, "created nodeclaim", {
      NodePool: { name: record.nodePool },
      NodeClaim: { name: record.name },
      requests: planned.requests,
      "instance-types": andOthers(planned.instanceTypes),
      "price-per-hour": planned.pricePerHour,
    });
  });
  for (const [pod, error] of Object.entries(final.podErrors)) logEvent(log, "could not schedule pod", { Pod: pod, error });
  // Plans for CapacityBuffers alone are made every minute: a metric that says nothing of pods would cost as much as one
  // that does.
  if (pending.length + ignored.length === 0 && records.length === 0) return;
  reportWaiting(real, ignored, deps);
  reportZones(zones, deps);
  deps.metrics.observe("scheduler_scheduling_duration_seconds", { controller: "provisioner" }, tookMs / 1_000);
}

/**
 * Publishes how many pods no NodePool can hold, and how many pods were ignored. Pods that wait for a NodePool to wake
 * are not counted: they must not page an operator at night.
 */
export function reportWaiting({ podErrors }: Plan, ignored: PendingPods["ignored"], { metrics }: Pick<ClusterDeps, "metrics">): void {
  const left = Object.values(podErrors).filter((reason) => !waitsForMorning(reason));
  metrics.gauge("scheduler_unschedulable_pods_count", { controller: "provisioner" }, left.length);
  metrics.gauge("scheduler_ignored_pods_count", {}, ignored.length);
}

/** Publishes how many pods may go to which zone; a zone that had some in the last plan has 0. */
function reportZones(zones: ReadonlyMap<string, number>, { metrics, memory, now }: Pick<ClusterDeps, "metrics" | "memory" | "now">): void {
  for (const zone of new Set([...(memory.recall("pendingZones", now()) ?? []), ...zones.keys()]))
    metrics.gauge("scheduler_pending_pods_by_effective_zone_count", { controller: "provisioner", zone }, zones.get(zone) ?? 0);
  memory.keep("pendingZones", new Set(zones.keys()), now());
}

/** The first five names, and how many more there are. */
export function andOthers(names: readonly string[]): string {
  const more = names.length - 5;
  return `${names.slice(0, 5).join(", ")}${more > 0 ? ` and ${more} other(s)` : ""}`;
}
