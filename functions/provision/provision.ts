import { logEvent } from "../../core/announcements/log-events.ts";
import { realPart } from "../../core/capacity-buffers/real-part.ts";
import { conditionOf, fromRfc3339 } from "../../core/model/conditions.ts";
import type { NodeClaimRecord } from "../../core/model/node-claim-record.ts";
import type { Plan, PlannedNodeClaim } from "../../core/model/plan.ts";
import type { Pod } from "../../core/model/pod.ts";
import type { Snapshot } from "../../core/model/snapshot.ts";
import { podKey } from "../../core/pods/predicates.ts";
import { putOff, reasonText, WAKE_UP_CAUSES, type WakeUpReason } from "../../core/ports/wake-up-causes.ts";
import { intentFor } from "../../core/provisioning/intent.ts";
import { nomineesOf } from "../../core/provisioning/nominees.ts";
import { pendingPods, solve } from "../../core/scheduling/solve.ts";
import type { ClusterDeps, Settings } from "../shared/cluster-deps.ts";
import { readClusterState } from "../shared/cluster-state.ts";
import { withLease } from "../shared/lease.ts";
import { publishOnce } from "../shared/publish-once.ts";
import { reportSetAside } from "../shared/report-set-aside.ts";
import { writeBufferStatus } from "./buffer-status.ts";

/**
 * Plans nodes for the pods that fit on none: reads the cluster, plans, writes a record of intent for each NodeClaim,
 * and wakes the lifecycle for it. It launches nothing itself. A kill after the records are written costs only time,
 * because the lifecycle's sweep takes up records that are overdue.
 */
export async function provision(reason: WakeUpReason<"provision">, deps: ClusterDeps): Promise<void> {
  let publish: (() => Promise<void>) | undefined;
  const decided = await withLease(deps, async (lease) => {
    const began = deps.now();
    const { snapshot, headroom, setAside } = await readClusterState(deps);
    const { pods: pending, virtual, ignored } = pendingPods(snapshot);
    for (const { pod, reason: why } of ignored)
      if (why !== "") deps.log.debug(`ignoring pod, ${why}`, { controller: "provisioner", Pod: podKey(pod) });
    if (pending.length + virtual.length === 0) {
      publish = async () => {
        await reportSetAside(setAside, deps);
        await writeBufferStatus(headroom, EMPTY_PLAN, snapshot, deps);
      };
      return;
    }
    if (areStillComing(reason, pending, began, deps.settings)) {
      await deps.wakeUps.wake([{ kind: "provision", cluster: deps.cluster.name, cause: "PodsComing" }]);
      return;
    }
    deps.log.debug("computing scheduling decision for provisionable pod(s)", {
      controller: "provisioner",
      "pending-pods": pending.length,
      reason: reasonText("provision", reason),
    });
    const plan = solve(snapshot, deps.settings);
    const records = intentsOf(plan, snapshot, deps);
    report(plan, records, snapshot, deps, deps.now() - began);
    await deps.store.writeIntents(lease, records);
    await deps.wakeUps.wake(records.map(({ name }) => ({ kind: "claim", cluster: deps.cluster.name, claim: name })));
    publish = async () => {
      await reportSetAside(setAside, deps);
      await publishPodEvents(realPart(plan, virtual), records, snapshot, deps);
      await writeBufferStatus(headroom, plan, snapshot, deps);
    };
  });
  // Events and statuses are written after the lease is released, so that no other decision waits for them.
  await publish?.();
  if (!decided) {
    await deps.wakeUps.wake([{ kind: "provision", cluster: deps.cluster.name, ...putOff(reason) }]);
  }
}

const EMPTY_PLAN: Plan = { newNodeClaims: [], existingNodes: [], podErrors: {} };

/** The API server stamps conditions with whole seconds. */
const CONDITION_TIME_STEP_MS = 1_000;

/**
 * The batching window: whether pods have only just become pending, and more of them may follow. The queue holds
 * wake-ups that pods cause back for BATCH_IDLE_DURATION, so that one plan serves all pods of a Deployment. For any
 * other cause the window of pods that have only just become pending is still open, and the plan waits, at most
 * BATCH_MAX_DURATION from the oldest pod on.
 */
function areStillComing(
  { cause }: WakeUpReason<"provision">,
  pending: readonly Pod[],
  now: number,
  { batchIdleMs, batchMaxMs }: Settings,
): boolean {
  if (WAKE_UP_CAUSES.provision[cause].isWindowOver) return false;
  const ages = pending.flatMap(({ spec, status }) => {
    const since = fromRfc3339(conditionOf(status?.conditions, "PodScheduled")?.lastTransitionTime);
    return spec.nodeName === undefined && !Number.isNaN(since) ? [now - since] : [];
  });
  return ages.some((age) => age < batchIdleMs + CONDITION_TIME_STEP_MS) && Math.max(...ages) < batchMaxMs;
}

function intentsOf(plan: Plan, snapshot: Snapshot, { cluster, now, newId }: ClusterDeps): readonly NodeClaimRecord[] {
  const pools = new Map(snapshot.nodePools.map((pool) => [pool.metadata.name, pool]));
  const nominees = nomineesOf(snapshot);
  return plan.newNodeClaims.flatMap((planned) => {
    const pool = pools.get(planned.nodePool);
    const podUids = nominees(planned);
    const instanceTypes = snapshot.instanceTypes.get(planned.nodePool) ?? [];
    const facts = { cluster: cluster.name, id: newId(), now: now(), reason: "provisioned" as const, podUids, instanceTypes };
    return pool ? [intentFor(planned, pool, facts)] : [];
  });
}

/**
 * Writes the log lines and metrics of a plan, in Karpenter's words
 * (karpenter: pkg/controllers/provisioning/scheduling/scheduler.go, Results.Record).
 */
function report(plan: Plan, records: readonly NodeClaimRecord[], snapshot: Snapshot, deps: ClusterDeps, tookMs: number): void {
  const { pods: pending, virtual } = pendingPods(snapshot);
  const real = realPart(plan, virtual);
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
  for (const [pod, error] of Object.entries(real.podErrors)) logEvent(log, "could not schedule pod", { Pod: pod, error });
  // Plans for CapacityBuffers alone are made every minute: a metric that says nothing of pods would cost as much as one
  // that does.
  if (pending.length === 0 && records.length === 0) return;
  deps.metrics.gauge("scheduler_unschedulable_pods_count", { controller: "provisioner" }, Object.keys(real.podErrors).length);
  deps.metrics.observe("scheduler_scheduling_duration_seconds", { controller: "provisioner" }, tookMs / 1_000);
}

/** The first five names, and how many more there are. */
export function andOthers(names: readonly string[]): string {
  const more = names.length - 5;
  return `${names.slice(0, 5).join(", ")}${more > 0 ? ` and ${more} other(s)` : ""}`;
}

/** Equal events of a pod within this time are published once. */
const POD_EVENT_WINDOW_MS = 5 * 60_000;

/**
 * Nominations and failures of one plan that are published, each: an event is two calls, and a large plan must not spend
 * its time on them. Karpenter's bound is 5 a second, burst 10; no benchmark has tuned this one.
 */
const MAX_EVENTS_PER_KIND = 10;

/** Publishes on each pod, for `kubectl describe pod`, where it should be scheduled or why it cannot be. */
async function publishPodEvents(plan: Plan, records: readonly NodeClaimRecord[], snapshot: Snapshot, deps: ClusterDeps): Promise<void> {
  const byKey = new Map(snapshot.pods.map((pod) => [podKey(pod), pod]));
  const events = [
    ...plan.newNodeClaims.flatMap(({ pods }, index) =>
      pods.map((pod) => ({ pod, message: `Pod should schedule on: nodeclaim/${records[index]?.name}` })),
    ),
    ...plan.existingNodes.flatMap(({ name, pods }) => pods.map((pod) => ({ pod, message: `Pod should schedule on: node/${name}` }))),
  ].map((event) => ({ ...event, type: "Normal" as const, reason: "Nominated" }));
  const failures = Object.entries(plan.podErrors).map(([pod, error]) => ({
    pod,
    type: "Warning" as const,
    reason: "FailedScheduling",
    message: `Failed to schedule pod, ${error}`,
  }));
  for (const { pod, ...event } of [...failures.slice(0, MAX_EVENTS_PER_KIND), ...events.slice(0, MAX_EVENTS_PER_KIND)]) {
    const metadata = byKey.get(pod)?.metadata;
    if (metadata) await publishOnce({ ...event, about: { kind: "Pod", metadata } }, deps, POD_EVENT_WINDOW_MS);
  }
}
