import { realPart } from "#core/capacity-buffers/real-part.ts";
import type { Lease } from "#core/model/lease.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { Plan } from "#core/model/plan.ts";
import type { Pod } from "#core/model/pod.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { batchingWait } from "#core/passes/batching-window.ts";
import { oldestDefinitions, PLANNED_AGE_MS } from "#core/passes/definitions.ts";
import { isPreliminary, joining } from "#core/passes/next-plan.ts";
import { withoutPurchases } from "#core/pause/plan.ts";
import { podKey } from "#core/pods/predicates.ts";
import { reasonText, type WakeUpReason } from "#core/ports/wake-up-causes.ts";
import { withInFlight } from "#core/provisioning/in-flight.ts";
import { withUntriedPods } from "#core/provisioning/untried-pods.ts";
import { priceOfNodes } from "#core/scheduling/problem/price-caps.ts";
import { podsByEffectiveZone } from "#core/scheduling/reasons/effective-zones.ts";
import { type PendingPods, pendingPods, solve } from "#core/scheduling/solve.ts";
import { preferencesGivenUp } from "#core/scheduling/weigh-preferences.ts";
import { isPausedForKarpenter } from "../shared/beside-karpenter.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import { type ClusterState, readClusterState } from "../shared/cluster-state.ts";
import { withLease } from "../shared/lease.ts";
import { heedsNominations } from "../shared/nominate-pods.ts";
import { pausedFor } from "../shared/pauses.ts";
import { haveDefinitionsChanged } from "../shared/recent-definitions.ts";
import { reservePrice } from "../shared/stack-price.ts";
import { writeIntents } from "../shared/write-intents.ts";
import { historyOf, intentsOf } from "./intents.ts";
import { planAgain, planAtEnd } from "./plan-again.ts";
import { andOthers, reportPlan, reportWaiting } from "./report-plan.ts";

/** How old what is known of a Karpenter beside us may be for a plan that buys, ms. */
const BUYING_LEASE_AGE_MS = 5_000;

/** The cluster as it was read for a plan. */
interface Reading {
  readonly state: ClusterState;
  /** The snapshot that was planned for. */
  readonly snapshot: Snapshot;
}

/** A plan whose records are written. */
interface Planned {
  readonly kind: "planned";
  readonly plan: Plan;
  /** The part of the plan that is published on pods. */
  readonly final?: Plan;
  /** One record for each NodeClaim of the plan. */
  readonly records: readonly NodeClaimRecord[];
}

/**
 * What a plan has led to. "putOff": another decision is under way, or other clusters have meanwhile bought what the
 * stack's price cap left. "outdated": definitions have changed since they were read. "waiting": the batching window is
 * open for so long.
 */
export type Outcome =
  | { readonly kind: "putOff" | "outdated" }
  | (Reading & { readonly kind: "waiting"; readonly ms: number; readonly pending: readonly Pod[] })
  | (Reading & Planned);

export interface PlanOptions {
  /** No batching window is waited for (core/passes/held-open.ts). */
  readonly isOverdue: boolean;
  /**
   * Definitions are read again before the plan. Otherwise a plan that buys, or has no place for a pod, is outdated when
   * they have changed, so that no machine starts for a NodePool that has just been deleted, or without room for a new
   * DaemonSet, and none is missing for a NodePool that has just come.
   */
  readonly isFresh: boolean;
}

/** Reads the cluster, plans, and writes the records of the plan's NodeClaims. */
export async function makePlan(reason: WakeUpReason<"provision">, options: PlanOptions, cluster: ClusterDeps): Promise<Outcome> {
  const held = await withLease(cluster, (lease, deps) => planUnder(lease, reason, options, deps));
  return held?.decision ?? { kind: "putOff" };
}

const EMPTY_PLAN: Plan = { newNodeClaims: [], existingNodes: [], podErrors: {} };

async function planUnder(
  lease: Lease,
  reason: WakeUpReason<"provision">,
  { isOverdue, isFresh }: PlanOptions,
  deps: ClusterDeps,
): Promise<Outcome> {
  const began = deps.now();
  const state = await readClusterState(deps, { isForPods: true, definitionsAgeMs: isFresh ? 0 : PLANNED_AGE_MS });
  const snapshot = withUntriedPods(state.snapshot);
  const reading = { state, snapshot };
  const pending = pendingPods(snapshot);
  logIgnored(pending, deps);
  if (pending.pods.length + pending.virtual.length === 0) return { ...reading, ...(await planNothing(pending, state, deps)) };
  const ms = isOverdue ? 0 : batchingWait(reason, pending.pods, state.records, { ...deps.settings, now: deps.now() });
  if (ms > 0) return { ...reading, kind: "waiting", ms, pending: pending.pods };
  deps.log.debug("computing scheduling decision for provisionable pod(s)", {
    controller: "provisioner",
    "pending-pods": pending.pods.length,
    reason: reasonText("provision", reason),
  });
  for (const one of state.givenUp) deps.log.info(preferencesGivenUp(one), { controller: "provisioner", Pod: one.example });
  const proposed = solve(snapshot, deps.settings);
  if (!isFresh && (await haveDefinitionsChanged(deps, oldestDefinitions(proposed, began)))) return { kind: "outdated" };
  const buys = proposed.newNodeClaims.length > 0;
  const [isBeside, pause] = await Promise.all([
    buys && isPausedForKarpenter(deps, BUYING_LEASE_AGE_MS),
    buys ? pausedFor("launches", deps) : undefined,
  ]);
  if (isBeside) return { ...reading, kind: "planned", plan: EMPTY_PLAN, records: [] };
  if (pause) await planAtEnd(pause, deps);
  const allowed = pause ? withoutPurchases(proposed, pause) : proposed;
  const planned = await writePlan(allowed, { ...reading, pending, lease, began }, deps);
  return planned === undefined ? { kind: "putOff" } : { ...reading, ...planned };
}

function logIgnored({ ignored }: PendingPods, { log }: ClusterDeps): void {
  for (const { pod, reason } of ignored)
    if (reason !== "") log.debug(`ignoring pod, ${reason}`, { controller: "provisioner", Pod: podKey(pod) });
}

/** No pod is planned for. */
async function planNothing({ ignored }: PendingPods, state: ClusterState, deps: ClusterDeps): Promise<Planned> {
  if (state.refusedUntil !== undefined) await planAgain(state, deps);
  const reasons = ignored.filter(({ reason }) => reason !== "").map(({ pod, reason }) => [podKey(pod), reason]);
  const final = { ...EMPTY_PLAN, podErrors: Object.fromEntries(reasons) };
  if (ignored.length > 0) reportWaiting(final, ignored, deps);
  return { kind: "planned", plan: EMPTY_PLAN, final, records: [] };
}

interface Proposal extends Reading {
  readonly pending: PendingPods;
  readonly lease: Lease;
  /** When the pass began, ms since the epoch. */
  readonly began: number;
}

/** Undefined when the stack's price cap does not leave the price of the plan. */
async function writePlan(
  proposed: Plan,
  { state, snapshot, pending, lease, began }: Proposal,
  deps: ClusterDeps,
): Promise<Planned | undefined> {
  const isHeld = proposed.newNodeClaims.length + joining(state.records, began).length > 1 && (await heedsNominations(deps));
  const { plan, records } = intentsOf(proposed, { known: state.records, isHeld }, snapshot, deps);
  if (records.length > 0 && !(await reservePrice(priceOfNodes(withInFlight(snapshot, records)), deps))) return undefined;
  const real = realPart(plan, pending.virtual);
  const known = [...state.records, ...records];
  const final = withoutPreliminary(real, snapshot, known, deps);
  const tookMs = deps.now() - began;
  const zones = podsByEffectiveZone(snapshot, pending.pods, deps.settings);
  reportPlan({ plan, real, final, records, pending, zones }, deps, tookMs);
  await writeIntents(lease, { records, history: historyOf(plan, records, snapshot) }, deps);
  if (Object.keys(real.podErrors).length > 0) await planAgain({ ...state, records: known }, deps, plan.retriedAt);
  return { kind: "planned", plan, final, records };
}

/**
 * The plan without the errors that the next plan may not have: they are no errors yet, and users do not see them.
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
