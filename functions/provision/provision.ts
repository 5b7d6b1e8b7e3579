import { realPart } from "#core/capacity-buffers/real-part.ts";
import { creationTimes, plannedEntry } from "#core/history/planned.ts";
import { withLaunchGroups } from "#core/launch-group/plan.ts";
import type { HistoryEntry } from "#core/model/history-entry.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { Plan } from "#core/model/plan.ts";
import type { Pod } from "#core/model/pod.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { podKey } from "#core/pods/predicates.ts";
import { putOff, reasonText, type WakeUpReason } from "#core/ports/wake-up-causes.ts";
import { unusedNames } from "#core/provisioning/claim-name.ts";
import { withInFlight } from "#core/provisioning/in-flight.ts";
import { intentFor } from "#core/provisioning/intent.ts";
import { isPreliminary, joining } from "#core/provisioning/next-look.ts";
import { podsToNominate } from "#core/provisioning/node-nominations.ts";
import { nomineesOf } from "#core/provisioning/nominees.ts";
import { refusalsOf } from "#core/provisioning/refused.ts";
import { withUntriedPods } from "#core/provisioning/untried-pods.ts";
import { nodeClaimProblem } from "#core/provisioning/writable.ts";
import { priceOfNodes } from "#core/scheduling/problem/price-caps.ts";
import { podsByEffectiveZone } from "#core/scheduling/reasons/effective-zones.ts";
import { type PendingPods, pendingPods, solve } from "#core/scheduling/solve.ts";
import { preferencesGivenUp } from "#core/scheduling/weigh-preferences.ts";
import { standsStill } from "../shared/beside-karpenter.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import { type ClusterState, readClusterState } from "../shared/cluster-state.ts";
import { withLease } from "../shared/lease.ts";
import { heedsNominations } from "../shared/nominate-pods.ts";
import { CONFIRMED_AGE_MS, haveDefinitionsChanged, PLANNED_AGE_MS } from "../shared/recent-definitions.ts";
import { reportSetAside } from "../shared/report-set-aside.ts";
import { reservePrice } from "../shared/stack-price.ts";
import { writeIntents } from "../shared/write-intents.ts";
import { writeBufferStatus } from "./buffer-status.ts";
import { glance, knownWait, notePlaces, readTable, restOf } from "./glance.ts";
import { isHeldOpen } from "./held-open.ts";
import { nominateNodes } from "./nominate.ts";
import { publishPodEvents, publishPoolEvents } from "./plan-events.ts";
import { recordWaits } from "./record-waits.ts";
import { andOthers, reportPlan, reportWaiting } from "./report-plan.ts";
import { batchingWait, lookAgain } from "./timing.ts";

/**
 * The longest rest of a batching window that is waited for here, ms: over the queues it takes at least two seconds to
 * look again.
 */
const MAX_REST_MS = 1_000;

/**
 * Plans nodes for the pods that fit on none: reads the cluster, plans, writes a record of intent for each NodeClaim,
 * and wakes the lifecycle for it. It launches nothing itself. A kill after the records are written costs only time,
 * because the lifecycle's sweep takes up records that are overdue.
 */
export async function provision(reason: WakeUpReason<"provision">, deps: ClusterDeps): Promise<void> {
  const wake = (wakeUp: WakeUpReason<"provision"> & { readonly delayMs?: number }): Promise<void> =>
    deps.wakeUps.wake([{ kind: "provision", cluster: deps.cluster.name, ...wakeUp }]);
  let cause: WakeUpReason<"provision"> = reason;
  let isOverdue = false;
  if (reason.cause === "Sweep" && !deps.settings.capacityBuffer && (await restOf(deps)) !== undefined) return;
  if (reason.cause !== "Sweep" && !deps.settings.capacityBuffer) {
    const restMs = knownWait(deps);
    const hasRested = restMs > 0 && restMs <= MAX_REST_MS;
    if (hasRested) {
      await deps.sleep(restMs);
      cause = PODS_COMING;
    }
    const table = await readTable(deps);
    let seen = await glance(cause, table, deps);
    if (!hasRested && !seen.isIdle && seen.waitMs > 0 && seen.waitMs <= MAX_REST_MS) {
      await deps.sleep(seen.waitMs);
      cause = PODS_COMING;
      seen = await glance(cause, table, deps);
    }
    if (seen.isIdle) return;
    isOverdue = seen.waitMs > 0 && (await isHeldOpen(seen.pods, deps));
    if (seen.waitMs > 0 && !isOverdue) {
      await wake({ ...PODS_COMING, delayMs: seen.waitMs });
      return;
    }
  }
  if (await standsStill(deps, LEASE_AGE_MS)) return;
  let outcome = await decide(cause, deps, { isOverdue });
  // Only once, so that wake-ups, of which one may come each second, do not pile up.
  if (outcome?.waitMs !== undefined && outcome.waitMs <= MAX_REST_MS) {
    await deps.sleep(outcome.waitMs);
    outcome = await decide(PODS_COMING, deps);
  }
  if (outcome?.waitMs !== undefined && (await isHeldOpen(outcome.pending, deps))) {
    outcome = await decide(PODS_COMING, deps, { isOverdue: true });
  }
  if (outcome?.plan !== undefined) notePlaces(outcome.plan, deps);
  if (outcome === undefined) {
    await wake(putOff(reason));
    return;
  }
  if (outcome.waitMs !== undefined) await wake({ ...PODS_COMING, delayMs: outcome.waitMs });
  // Nominations, events and statuses are written after the lease is released, so that no other decision waits for them.
  await publish(outcome, deps);
}

/** How old what is known of a Karpenter beside us may be for a plan, and for one that buys, ms. */
const LEASE_AGE_MS = 60_000;
const BUYING_LEASE_AGE_MS = 5_000;

/** Causes that no change of a definition has: a plan for them may use definitions that were read a moment ago. */
export const ABOUT_PODS: ReadonlySet<string> = new Set<WakeUpReason<"provision">["cause"]>([
  ...(["PodsUnschedulable", "PodsComing", "PodsWaiting", "NodeClaimTerminating"] as const),
  ...(["NodeRegistered", "NodeInitialized", "NodeClaimRemoved"] as const),
]);

const PODS_COMING = { cause: "PodsComing" } as const;

/** What a look at the cluster has led to. */
interface Outcome {
  readonly state: ClusterState;
  /** The snapshot that was planned for. */
  readonly snapshot: Snapshot;
  /** The pods that wait for a plan. */
  readonly pending: readonly Pod[];
  /** Set while the batching window is open: how long it stays so, ms. Nothing is planned then. */
  readonly waitMs?: number;
  readonly plan?: Plan;
  /** The part of the plan that is told on pods. */
  readonly final?: Plan;
  /** One record for each NodeClaim of the plan. */
  readonly records: readonly NodeClaimRecord[];
}

interface Decision {
  /** No batching window is waited for (held-open.ts). */
  readonly isOverdue?: boolean;
  readonly isFresh?: boolean;
}

/**
 * Reads, plans and writes the records. Undefined while another decision is under way, and when other clusters have
 * meanwhile bought what the stack's price cap left.
 * @param isFresh definitions are read anew before the plan; otherwise a plan that buys, or has no place for a pod, is
 * made again when they have changed, so that no machine starts for a NodePool that has just been deleted, or without
 * room for a new DaemonSet, and none is missing for a NodePool that has just come
 */
async function decide(
  reason: WakeUpReason<"provision">,
  cluster: ClusterDeps,
  { isOverdue = false, isFresh = !ABOUT_PODS.has(reason.cause) }: Decision = {},
): Promise<Outcome | undefined> {
  let outcome: Outcome | undefined;
  let isOutdated = false;
  await withLease(cluster, async (lease, deps) => {
    const began = deps.now();
    const state = await readClusterState(deps, { isForPods: true, definitionsAgeMs: isFresh ? 0 : PLANNED_AGE_MS });
    const snapshot = withUntriedPods(state.snapshot);
    const pending = pendingPods(snapshot);
    outcome = { state, snapshot, pending: pending.pods, records: [] };
    for (const { pod, reason: why } of pending.ignored)
      if (why !== "") deps.log.debug(`ignoring pod, ${why}`, { controller: "provisioner", Pod: podKey(pod) });
    if (pending.pods.length + pending.virtual.length === 0) {
      if (state.refusedUntil !== undefined) await lookAgain(state, deps);
      const final = { ...EMPTY_PLAN, podErrors: reasonsOf(pending) };
      if (pending.ignored.length > 0) reportWaiting(final, pending.ignored, deps);
      outcome = { ...outcome, plan: EMPTY_PLAN, final };
      return;
    }
    const waitMs = isOverdue ? 0 : batchingWait(reason, pending.pods, state.records, deps);
    if (waitMs > 0) {
      outcome = { ...outcome, waitMs };
      return;
    }
    deps.log.debug("computing scheduling decision for provisionable pod(s)", {
      controller: "provisioner",
      "pending-pods": pending.pods.length,
      reason: reasonText("provision", reason),
    });
    for (const one of state.givenUp) deps.log.info(preferencesGivenUp(one), { controller: "provisioner", Pod: one.example });
    const proposed = solve(snapshot, deps.settings);
    isOutdated = !isFresh && (await haveDefinitionsChanged(deps, oldestDefinitions(proposed, began)));
    if (isOutdated) return;
    if (proposed.newNodeClaims.length > 0 && (await standsStill(deps, BUYING_LEASE_AGE_MS))) {
      outcome = { ...outcome, plan: EMPTY_PLAN };
      return;
    }
    const isHeld = proposed.newNodeClaims.length + joining(state.records, began).length > 1 && (await heedsNominations(deps));
    const { plan, records } = intentsOf(proposed, { known: state.records, isHeld }, snapshot, deps);
    if (records.length > 0 && !(await reservePrice(priceOfNodes(withInFlight(snapshot, records)), deps))) {
      outcome = undefined;
      return;
    }
    const real = realPart(plan, pending.virtual);
    const known = [...state.records, ...records];
    const final = withoutPreliminary(real, snapshot, known, deps);
    const tookMs = deps.now() - began;
    const zones = podsByEffectiveZone(snapshot, pending.pods, deps.settings);
    reportPlan({ plan, real, final, records, pending, zones }, deps, tookMs);
    await writeIntents(lease, { records, history: historyOf(plan, records, snapshot) }, deps);
    if (Object.keys(real.podErrors).length > 0) await lookAgain({ ...state, records: known }, deps);
    outcome = { ...outcome, plan, final, records };
  });
  return isOutdated ? decide(reason, cluster, { isOverdue, isFresh: true }) : outcome;
}

/** Since when the definitions must have been read that a plan goes by, ms since the epoch. */
function oldestDefinitions({ newNodeClaims, podErrors }: Plan, began: number): number {
  if (newNodeClaims.length > 0) return began;
  // Pods that fit nowhere are planned again and again: definitions of the last seconds do for them.
  return Object.keys(podErrors).length > 0 ? began - CONFIRMED_AGE_MS : 0;
}

async function publish({ state, snapshot, plan, final, records }: Outcome, deps: ClusterDeps): Promise<void> {
  await nominateNodes(snapshot, deps);
  await reportSetAside(state.setAside, deps);
  if (final !== undefined) await publishPodEvents(final, records, snapshot, deps);
  if (final !== undefined && Object.keys(final.podErrors).length > 0) await publishPoolEvents(snapshot, deps);
  if (final !== undefined) await recordWaits(final, snapshot, [...state.records, ...records], deps);
  if (plan !== undefined) await writeBufferStatus(state.headroom, plan, snapshot, deps);
}

const EMPTY_PLAN: Plan = { newNodeClaims: [], existingNodes: [], podErrors: {} };

/** Why pods are ignored, by pod. */
function reasonsOf({ ignored }: PendingPods): Readonly<Record<string, string>> {
  return Object.fromEntries(ignored.filter(({ reason }) => reason !== "").map(({ pod, reason }) => [podKey(pod), reason]));
}

interface IntentOptions {
  readonly known: readonly NodeClaimRecord[];
  /** Nodes of several NodeClaims start at the same time, so each is held for its pods. */
  readonly isHeld: boolean;
}

/**
 * The intents of a plan, in the order of its NodeClaims. A NodeClaim that the API server would refuse is left out of
 * the plan, and its pods are told why.
 */
function intentsOf(
  plan: Plan,
  { known, isHeld }: IntentOptions,
  snapshot: Snapshot,
  { cluster, now, newId, settings }: ClusterDeps,
): { readonly plan: Plan; readonly records: readonly NodeClaimRecord[] } {
  const pools = new Map(snapshot.nodePools.map((pool) => [pool.metadata.name, pool]));
  const nominees = nomineesOf(snapshot);
  const nameOf = unusedNames([...known.map(({ name }) => name), ...snapshot.nodeClaims.map(({ metadata }) => metadata.name)]);
  const nominated = isHeld ? podsToNominate(snapshot) : new Set<string>();
  const made = plan.newNodeClaims.flatMap((planned) => {
    const pool = pools.get(planned.nodePool);
    const podUids = nominees(planned);
    const instanceTypes = snapshot.instanceTypes.get(planned.nodePool) ?? [];
    const id = newId();
    const facts = {
      ...{ id, name: nameOf(planned.nodePool, id), cluster: cluster.name, now: now(), reason: "provisioned" as const },
      ...{ podUids, instanceTypes },
      refusals: refusalsOf(podUids, known),
      ...(isHeld && { heldFor: planned.pods.filter((pod) => nominated.has(pod)) }),
    };
    const record = pool && intentFor(planned, pool, facts);
    return record ? [{ planned, record, problem: nodeClaimProblem(record.manifest) }] : [];
  });
  const refused = made.flatMap(({ planned: { nodePool, pods }, problem }) =>
    pods.flatMap((pod) => (problem === undefined ? [] : [[pod, `NodePool ${nodePool}: its NodeClaim cannot be written: ${problem}`]])),
  );
  const kept = made.filter(({ problem }) => problem === undefined);
  return {
    plan: { ...plan, newNodeClaims: kept.map(({ planned }) => planned), podErrors: { ...plan.podErrors, ...Object.fromEntries(refused) } },
    records: withLaunchGroups(
      kept.map(({ record }) => record),
      settings.launchTogether,
    ),
  };
}

/** Why each NodeClaim of a plan; `records` are in the order of its NodeClaims. */
function historyOf(
  { newNodeClaims }: Plan,
  records: readonly NodeClaimRecord[],
  { pods, instanceTypes }: Snapshot,
): readonly HistoryEntry[] {
  const createdAt = records.length > 0 ? creationTimes(pods) : new Map<string, number>();
  return newNodeClaims.flatMap((planned, i) => {
    const record = records[i];
    const types = instanceTypes.get(planned.nodePool) ?? [];
    return record ? [plannedEntry(planned, record, { instanceTypes: types, createdAt, together: records.length })] : [];
  });
}

/**
 * The plan without the errors that the next look may find gone: they are no errors yet, and are not told to users.
 */
function withoutPreliminary(plan: Plan, { pods }: Snapshot, records: readonly NodeClaimRecord[], { now, log }: ClusterDeps): Plan {
  const byKey = new Map(pods.map((pod) => [podKey(pod), pod]));
  const { waiting = [], final = [] } = Object.groupBy(Object.entries(plan.podErrors), ([pod]) =>
    isPreliminary(byKey.get(pod), records, now()) ? "waiting" : "final",
  );
  const [first] = waiting;
  if (first !== undefined) {
    const Pods = andOthers(waiting.map(([pod]) => pod));
    log.info("pod(s) wait for nodeclaims on their way", { controller: "provisioner", Pods, error: first[1] });
  }
  return { ...plan, podErrors: Object.fromEntries(final) };
}
