// core/disruption decides which nodes are removed voluntarily: in comes a snapshot of the cluster with its records and
// commands, out comes a plan (plan.ts) and, for a stored command, its next step (command/advance-command.ts). It
// publishes and writes nothing: functions/disruption does. Imports point downwards in this order: plan.ts -> command ->
// reports -> methods -> node-sets -> consolidation -> cluster -> prices -> settings.ts.

import type { Violation } from "../lib/invariant.ts";
import type { CommandRecord, DisruptionReason } from "../model/command-record.ts";
import { NODE_POOL, SCHEDULE } from "../model/labels.ts";
import { isAsleep, sleepOf } from "../node-pool/schedule.ts";
import type { ConsolidationTrial, MakeTrial } from "../scheduling/make-trial.ts";
import type { Blocked, BlockedNode } from "./cluster/blocked.ts";
import { nextBudgetChange, type PoolBudget, poolBudgets } from "./cluster/budget.ts";
import { type Candidate, findCandidates, isEmpty } from "./cluster/candidate.ts";
import { consolidatableFrom } from "./cluster/consolidate-after.ts";
import { type ClusterView, viewCluster } from "./cluster/view.ts";
import { newCommand } from "./command/command.ts";
import { commandViolation } from "./command/command-invariants.ts";
import { type ConsolidationContext, consolidationBlock, isConsolidationCandidate } from "./consolidation/consolidation.ts";
import { type Decision, type Method, type Pass, reasonOf, type Tried } from "./consolidation/decision.ts";
import { savingsMissed } from "./consolidation/expected-savings.ts";
import type { DisruptionInput } from "./consolidation/input.ts";
import { trialFor } from "./consolidation/simulate.ts";
import { nextCircuitLookAt } from "./limits/circuit-breaker.ts";
import { nextLookAt } from "./limits/rate-limit.ts";
import { drift } from "./methods/drift.ts";
import { emptiness, emptinessBlock } from "./methods/emptiness.ts";
import { findUnhealthy, repair, type Unhealthy } from "./methods/repair.ts";
import { singleNode } from "./methods/single-node.ts";
import { sleep } from "./methods/sleep.ts";
import { staticDrift } from "./methods/static-drift.ts";
import { runWithinLimits } from "./methods/within-limits.ts";
import { multiNode } from "./node-sets/multi-node.ts";
import { findNodeSet } from "./node-sets/node-set-search.ts";
import { describeBlocked } from "./reports/wording.ts";

/**
 * What one pass of disruption decided. The shell stores `command`, mirrors `consolidatable` to the claims' conditions
 * and wakes at `nextDueAt`; reports/report-of.ts renders events and metrics from it.
 */
export interface DisruptionPlan {
  /** The cluster that the pass was decided on. */
  readonly view: ClusterView;
  /** The methods that ran, in order; the last one decided `command`, if there is one. */
  readonly passes: readonly Pass[];
  /** To be stored; `advanceCommand` executes it later. At most one per pass. */
  readonly command?: CommandRecord;
  /** Why the command that was decided is left out: it breaks a rule, which is a fault of this program. */
  readonly violation?: Violation;
  /** Every node that is not disrupted, and why. */
  readonly blocked: readonly (BlockedNode & { readonly message: string })[];
  /** NodeClaim name to the desired status of its condition Consolidatable. */
  readonly consolidatable: ReadonlyMap<string, boolean>;
  /** When time alone may change the decision, ms since the epoch; undefined when only an event can. */
  readonly nextDueAt: number | undefined;
  /** Sets of nodes whose removal was simulated, in order. */
  readonly tried: readonly Tried[];
  /** CapacityBuffers lack room that a new node would give: the shell wakes provisioning. */
  readonly lacksRoom: boolean;
  /**
   * NodePools that SingleNodeConsolidation had no time for; DisruptionInput.unseenPools of the next pass. Undefined
   * when it did not come to its end or its time: the former ones stay.
   */
  readonly unseenPools?: readonly string[];
}

/** Why a candidate is blocked before any simulation. */
function standingBlock(candidate: Candidate, now: number): Blocked | undefined {
  if (isAsleep(candidate.nodePool, now)) return candidate.heldByPod;
  return isEmpty(candidate) ? emptinessBlock(candidate, now) : consolidationBlock(candidate, now);
}

/**
 * Runs the methods in Karpenter's order, with that of sleeping pools after repair; the first that finds something ends
 * the pass (karpenter: pkg/controllers/disruption/controller.go, NewMethods).
 */
function runMethods(
  input: DisruptionInput,
  view: ClusterView,
  all: readonly Candidate[],
  unhealthy: Unhealthy | undefined,
): readonly Pass[] {
  // Nodes of a sleeping pool go one way only.
  const candidates = all.filter(({ nodePool }) => !isAsleep(nodePool, view.now));
  const { makeTrial } = input;
  let trial: ConsolidationTrial | undefined;
  const trialOnce = (by: MakeTrial): ConsolidationTrial => {
    const movable = candidates.filter((candidate) => isConsolidationCandidate(candidate, view.now));
    trial ??= trialFor(view, movable, by);
    return trial;
  };
  const context: ConsolidationContext = {
    view,
    settings: input.settings,
    simulate: input.simulate,
    ...(makeTrial && { trial: () => trialOnce(makeTrial) }),
  };
  const budgets = new Map<DisruptionReason, ReadonlyMap<string, PoolBudget>>();
  const budgetsFor = (reason: DisruptionReason): ReadonlyMap<string, PoolBudget> => {
    const known = budgets.get(reason) ?? poolBudgets(view, reason);
    budgets.set(reason, known);
    return known;
  };
  const { outOfTime = () => false, unseenPools = [] } = input;
  // `findNodeSet` replaces MultiNodeConsolidation where there is a trial cluster; a set of one node counts as single.
  type Run = (budgets: ReadonlyMap<string, PoolBudget>, from: readonly Candidate[]) => Decision;
  const sleeps = view.snapshot.nodePools.some((pool) => pool.metadata.annotations?.[SCHEDULE] !== undefined);
  const sleepMethod: readonly [Method, Run] = ["sleep", (allowed) => sleep(all, allowed, view.now)];
  const staticMethod: readonly [Method, Run] = ["drift", (allowed, from) => staticDrift(view, from, allowed, input)];
  const repairMethod: readonly [Method, Run] = [
    "repair",
    (allowed, from) => (unhealthy ? repair(context, unhealthy, new Set(from), allowed, input) : { blocked: [], eligible: 0 }),
  ];
  const methods: readonly (readonly [Method, Run])[] = [
    ...(unhealthy ? [repairMethod] : []),
    ...(sleeps ? [sleepMethod] : []),
    ["emptiness", (allowed, from) => emptiness(from, allowed, view.now)],
    ...(input.settings.staticCapacity ? [staticMethod] : []),
    ["drift", (allowed, from) => drift(context, from, allowed, () => outOfTime("drift"))],
    ["multi", (allowed, from) => (context.trial ? findNodeSet : multiNode)(context, from, allowed, () => outOfTime("multi"))],
    ["single", (allowed, from) => singleNode(context, from, allowed, { unseenPools, outOfTime: () => outOfTime("single") })],
  ];
  const missed = savingsMissed(input.expected, input.snapshot, input.commands, view.costs);
  const of = (method: Method): readonly Candidate[] => (method === "repair" ? (unhealthy?.candidates ?? []) : candidates);
  const passes: Pass[] = [];
  for (const [method, run] of methods) {
    const allowed = budgetsFor(reasonOf(method));
    const isConsolidation = method === "multi" || method === "single";
    const decision =
      isConsolidation && missed
        ? blockedAll(candidates, missed, view.now)
        : runWithinLimits(method, run, { budgets: allowed, candidates: of(method), now: view.now }, input);
    const isOne = method === "multi" && decision.found?.candidates.length === 1;
    const isTimedOut = isConsolidation && outOfTime(method);
    const pass = { method: isOne ? "single" : method, decision, budgets: allowed, isTimedOut } as const;
    passes.push(pass);
    if (pass.decision.found) break;
  }
  return passes;
}

function blockedAll(candidates: readonly Candidate[], blocked: Blocked, now: number): Decision {
  const eligible = candidates.filter((candidate) => isConsolidationCandidate(candidate, now));
  return { blocked: eligible.map(({ node, nodeClaim }) => ({ node, nodeClaim, blocked })), eligible: eligible.length };
}

/** One reason for each blocked node; the reason of a method replaces that of a rule, because it is more specific. */
function explain(
  view: ClusterView,
  standing: readonly BlockedNode[],
  candidates: readonly Candidate[],
  passes: readonly Pass[],
): BlockedNode[] {
  const reasons = new Map<string, BlockedNode>(standing.map((blocked) => [blocked.nodeClaim, blocked]));
  for (const candidate of candidates) {
    const blocked = standingBlock(candidate, view.now);
    if (blocked) reasons.set(candidate.nodeClaim, { node: candidate.node, nodeClaim: candidate.nodeClaim, blocked });
  }
  for (const { decision } of passes) for (const blocked of decision.blocked) reasons.set(blocked.nodeClaim, blocked);
  for (const { decision } of passes) for (const { nodeClaim } of decision.found?.candidates ?? []) reasons.delete(nodeClaim);
  return [...reasons.values()].sort((a, b) => (a.nodeClaim < b.nodeClaim ? -1 : 1));
}

function untilOf(blocked: Blocked): number {
  return "until" in blocked ? blocked.until : Number.POSITIVE_INFINITY;
}

/**
 * The first time after `now` at which a consolidateAfter window, an annotation or a nomination ends, a NodePool falls
 * asleep or wakes, or a spent budget changes.
 */
function nextDue(view: ClusterView, from: readonly number[], blocked: readonly BlockedNode[]): number | undefined {
  const blockedByBudget = new Set(blocked.flatMap(({ blocked: b }) => (b.reason === "BudgetSpent" ? [b.nodePool] : [])));
  const budgets = [...blockedByBudget].flatMap((name) => {
    const pool = view.nodePools.get(name);
    return (pool && nextBudgetChange(pool, view.now)) ?? [];
  });
  const schedules = view.snapshot.nodePools.flatMap((pool) => sleepOf(pool, view.now).until ?? []);
  const times = [...from, ...schedules, ...blocked.map((node) => untilOf(node.blocked)), ...budgets];
  const next = Math.min(...times.filter((time) => time > view.now));
  return next === Number.POSITIVE_INFINITY ? undefined : next;
}

/**
 * One pass of disruption over the cluster: at most one command, and for every other node why it is not disrupted.
 * Decides nothing while a command is being validated, as in Karpenter, because its effect is not certain yet
 * (karpenter: pkg/controllers/disruption/controller.go, Controller.disrupt).
 */
export function planDisruption(input: DisruptionInput): DisruptionPlan {
  const { now, settings, commands } = input;
  const view = viewCluster(input);
  const found = findCandidates(view);
  const unhealthy = settings.nodeRepair && !settings.legacyNodeRepair ? findUnhealthy(view) : undefined;
  const validating = commands.filter(({ phase }) => phase === "Validating");
  const passes = validating.length > 0 ? [] : runMethods(input, view, found.all, unhealthy);
  const blocked = explain(view, found.blocked, found.all, passes);

  const validatedAt = Math.min(...validating.map(({ dueAt }) => dueAt));
  const since = consolidatableTimes(view);
  const nextWindow = input.rate && nextLookAt(input.rate.window, input.rate.setting, now);
  const nextLook = input.breaker && nextCircuitLookAt(input.breaker, now);
  const from = [...since.values(), ...[nextWindow, nextLook, unhealthy?.nextDueAt].flatMap((at) => at ?? [])];
  const last = passes.at(-1);
  const unseenPools = last?.decision.unseenPools;
  const tried = last?.decision.tried ?? [];
  const decided =
    last?.decision.found &&
    newCommand({ cluster: settings.cluster, id: input.newId(), now, method: last.method, ...last.decision.found, tried });
  const violation =
    decided && commandViolation(decided, new Set([...found.all, ...(unhealthy?.candidates ?? [])].map(({ nodeClaim }) => nodeClaim)));
  const command = violation ? undefined : decided;
  return {
    view,
    passes,
    ...(command ? { command } : {}),
    ...(violation ? { violation } : {}),
    blocked: blocked.map((node) => ({ ...node, message: describeBlocked(node.blocked) })),
    consolidatable: new Map([...since].map(([name, at]) => [name, at <= now])),
    tried: passes.flatMap(({ decision }) => decision.tried ?? []),
    lacksRoom: view.bufferRoom().isShort,
    nextDueAt: command?.dueAt ?? (validating.length > 0 ? validatedAt : nextDue(view, from, blocked)),
    ...(unseenPools ? { unseenPools } : {}),
  };
}

/** From when each NodeClaim may be consolidated, ms; never, where its NodePool is not known. */
function consolidatableTimes({ machines, nodePools }: ReturnType<typeof viewCluster>): ReadonlyMap<string, number> {
  return new Map(
    [...machines].map(([name, { claim, record }]) => {
      const pool = nodePools.get(claim.metadata.labels?.[NODE_POOL] ?? "");
      return [name, pool ? consolidatableFrom(claim, pool, record) : Number.POSITIVE_INFINITY];
    }),
  );
}
