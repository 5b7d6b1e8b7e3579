import type { Simulate } from "#core/disruption/cluster/simulation.ts";
import { advanceCommand, type CommandInput } from "#core/disruption/command/advance-command.ts";
import type { CommandStep } from "#core/disruption/command/command-action.ts";
import { heal } from "#core/disruption/command/marking.ts";
import type { ExpectedSavings } from "#core/disruption/consolidation/expected-savings.ts";
import { simulateWithSolve } from "#core/disruption/consolidation/simulate.ts";
import type { CircuitBreaker } from "#core/disruption/limits/circuit-breaker.ts";
import type { RateInput } from "#core/disruption/limits/counted.ts";
import { type DisruptionPlan, planDisruption } from "#core/disruption/plan.ts";
import { type DisruptionReport, reportOf } from "#core/disruption/reports/report-of.ts";
import { driftedClaims } from "#core/drift/drifted-claims.ts";
import { violationText } from "#core/lib/invariant.ts";
import type { CommandRecord } from "#core/model/command-record.ts";
import type { Lease } from "#core/model/lease.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { Pause } from "#core/model/pause.ts";
import { DISRUPTION_CAUSES } from "#core/passes/causes.ts";
import { checkedAt } from "#core/passes/check-disruption.ts";
import { CONFIRMED_AGE_MS } from "#core/passes/definitions.ts";
import { reasonText, type WakeUpReason } from "#core/ports/wake-up-causes.ts";
import { type MakeTrial, makeConsolidationTrial } from "#core/scheduling/make-trial.ts";
import { priceOfNodes } from "#core/scheduling/problem/price-caps.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import { type ClusterState, readClusterState } from "../shared/cluster-state.ts";
import { withLease } from "../shared/lease.ts";
import { pausedFor } from "../shared/pauses.ts";
import { publishOnce } from "../shared/publish-once.ts";
import { reportSetAside } from "../shared/report-set-aside.ts";
import { someAtATime } from "../shared/some-at-a-time.ts";
import { writePrice } from "../shared/stack-price.ts";
import { followMoves, readBreaker } from "./breaker.ts";
import { type Knowledge, mirrorConditions } from "./claim-conditions.ts";
import { followSavings, readExpectedSavings } from "./expected-savings.ts";
import { keepStays } from "./keep-stays.ts";
import { nominations } from "./nominations.ts";
import { withinReach } from "./out-of-reach.ts";
import { performCommandAction } from "./perform.ts";
import { observePods } from "./pod-events.ts";
import { countEnds, readRate } from "./rate.ts";
import { disruptionSettings } from "./settings.ts";
import { keepPass, type NextPass, putOff, readLastPass, recordPass, sleepUntil, writeNextPass } from "./wake-times.ts";

/**
 * Pods that take the room of a CapacityBuffer are bound without a wake-up, so it is checked this often, as in
 * Karpenter. The checks are at multiples of the period, so that all passes ask for the same next one: if each asked
 * for one a period after itself, each pass would begin a chain of its own, and chains never end.
 */
const BUFFER_PERIOD_MS = 30_000;
const nextBufferCheck = (now: number): number => (Math.floor(now / BUFFER_PERIOD_MS) + 1) * BUFFER_PERIOD_MS;

/** How long one pass may search before it takes the best plan found so far. */
const MAX_SEARCH_MS = 10_000;

/**
 * One pass of disruption: carries the stored commands on, removes marks that belong to no command, and decides on at
 * most one new command. A new command is only stored; it is validated again after 15 s, in a later pass, before
 * anything is done.
 * @param isFresh definitions are read again, however recently they were read
 */
export async function disrupt(reason: WakeUpReason<"disruption">, cluster: ClusterDeps, isFresh = true): Promise<void> {
  const wakeTimes: number[] = [];
  const held = await withLease(cluster, async (lease, deps) => {
    const readsFrom = deps.now();
    // Sweeps are not recorded: an idle cluster must not write.
    if (!DISRUPTION_CAUSES[reason.cause].swarms && reason.cause !== "Sweep") await recordPass(deps);
    const scene = await advance({ isFresh, lease, wakeTimes }, deps);
    const began = deps.now();
    const plan = await decide(reason, scene, deps);
    const outcome = await report(plan, scene, began, deps);
    const unseenPools = plan.unseenPools ?? scene.lastPass?.unseenPools ?? [];
    await writeNextPass({ at: Math.min(...wakeTimes), unseenPools }, scene.lastPass, deps);
    keepPass(readsFrom, isFresh, deps);
    return outcome;
  });
  // Without the lease: a thousand conditions and events must not keep the next decision waiting.
  if (held === undefined) await putOff(cluster);
  else await publish(held.decision, cluster);
  await sleepUntil(wakeTimes, cluster);
}

/** What one pass works with, under the lease. */
interface Pass {
  readonly lease: Lease;
  /** When the next pass is to check something is added. */
  readonly wakeTimes: number[];
}

/** The cluster once its commands are advanced. */
interface Scene extends Pass {
  readonly state: ClusterState;
  readonly records: readonly NodeClaimRecord[];
  readonly commands: readonly CommandRecord[];
  readonly expected: ExpectedSavings | undefined;
  readonly lastPass: NextPass | undefined;
  readonly rate: RateInput | undefined;
  readonly breaker: CircuitBreaker;
}

/** Reads the cluster, carries its commands on, and removes marks that belong to none. */
async function advance({ isFresh, ...pass }: Pass & { readonly isFresh: boolean }, deps: ClusterDeps): Promise<Scene> {
  const [read, last, lastPass] = await Promise.all([
    readClusterState(deps, { definitionsAgeMs: isFresh ? 0 : CONFIRMED_AGE_MS }),
    readExpectedSavings(deps),
    readLastPass(deps),
  ]);
  const before = await withinReach(read, pass.wakeTimes, deps);
  // A sweep of provisioning that finds no pod reads nothing else.
  if (isFresh) await reportSetAside(read.setAside, deps);
  const observed = await observePods(before, deps);
  const [rate, breaker] = await Promise.all([readRate(before, deps), readBreaker(before, deps)]);
  const tools = { ...pass, simulate: simulateIn(deps), last, rate, breaker };
  const { commands: advanced, ...followed } = await advanceCommands({ ...before, records: observed }, tools, deps);
  // Replacements that were written just now take room and use limits: the next decision must see them.
  const isChanged = advanced.some((command) => isStarted(command, before.commands));
  const state = isChanged
    ? await withinReach(await readClusterState(deps, { definitionsAgeMs: CONFIRMED_AGE_MS }), pass.wakeTimes, deps)
    : before;
  const [records, commands] = isChanged ? [await observePods(state, deps), state.commands] : [observed, advanced];
  const seen = { snapshot: state.snapshot, records, commands, now: deps.now() };
  for (const action of heal(seen)) await performCommandAction(action, { lease: pass.lease, state, deps });
  return { ...pass, state, records, commands, lastPass, ...followed };
}

const simulateIn =
  ({ settings }: ClusterDeps): Simulate =>
  (snapshot, options) =>
    simulateWithSolve(snapshot, { ...settings, ...options });

/** Decides on at most one new command, stores it, and adds when the next pass is due. */
async function decide(reason: WakeUpReason<"disruption">, scene: Scene, deps: ClusterDeps): Promise<DisruptionPlan> {
  const { state, records, commands, expected, lastPass, rate, breaker, lease, wakeTimes } = scene;
  const began = deps.now();
  const makeTrial: MakeTrial = (snapshot, options) => makeConsolidationTrial(snapshot, options, deps.settings);
  const found = planDisruption({
    ...{ snapshot: state.snapshot, records, commands, now: began },
    settings: disruptionSettings(deps.cluster.name, deps.settings),
    ...{ simulate: simulateIn(deps), makeTrial, newId: deps.newId },
    nominatedUntil: nominations(state),
    outOfTime: () => deps.now() - began > MAX_SEARCH_MS,
    ...(expected && { expected }),
    ...(lastPass && { unseenPools: lastPass.unseenPools }),
    ...(rate && { rate }),
    breaker,
  });
  const pause = found.command && (await pausedFor("disruption", deps));
  const plan = pause ? withoutCommand(found, pause) : found;
  if (plan.violation) deps.log.error("command is left out", { controller: "disruption", error: violationText(plan.violation) });
  if (plan.command) {
    await deps.store.createCommand(lease, plan.command);
    deps.log.debug("decided on a disruption, to be validated", {
      controller: "disruption",
      reason: reasonText("disruption", reason),
      method: plan.command.method,
      "command-id": plan.command.id,
    });
  }
  const { nextDueAt = Number.POSITIVE_INFINITY } = plan;
  // A validation is due to the second; for the rest of what time changes, one pass checks all that is due by then.
  wakeTimes.push(plan.command === undefined && plan.passes.length > 0 ? checkedAt(nextDueAt) : nextDueAt);
  if (state.headroom.length > 0) wakeTimes.push(nextBufferCheck(deps.now()));
  if (plan.lacksRoom) await deps.wakeUps.wake([{ kind: "provision", cluster: deps.cluster.name, cause: "BufferRoomTaken" }]);
  return plan;
}

/** The plan while disruption is paused: it has no command, and the next pass is due when the pause ends. */
function withoutCommand({ command: _, ...plan }: DisruptionPlan, { until }: Pause): DisruptionPlan {
  return { ...plan, nextDueAt: until };
}

/** Sets the metrics of a pass and the cluster's price; returns what is published without the lease. */
async function report(plan: DisruptionPlan, { state, records }: Scene, began: number, deps: ClusterDeps): Promise<Outcome> {
  const { gauges, counts, observations, events } = reportOf(plan);
  // CloudWatch charges for each metric in each hour in which it gets a value, and a cluster without nodes has nothing
  // to report.
  if (state.snapshot.nodeClaims.length > 0) for (const { metric, labels, value } of gauges) deps.metrics.gauge(metric, labels, value);
  for (const { metric, labels, value } of counts) deps.metrics.count(metric, labels, value);
  for (const { metric, labels, value } of observations) deps.metrics.observe(metric, labels, value);
  deps.metrics.observe("voluntary_disruption_decision_evaluation_duration_seconds", {}, (deps.now() - began) / 1_000);
  await writePrice(priceOfNodes(state.snapshot), deps);
  const drifted = driftedClaims({ ...state, records, now: deps.now() });
  // While a command is validated no method runs, so little is known of why nodes stay.
  if (plan.passes.length > 0) await keepStays(plan.blocked, deps);
  return { claims: state.snapshot.nodeClaims, knowledge: { records, consolidatable: plan.consolidatable, drifted }, events };
}

/** What a pass publishes when its decision is stored. */
interface Outcome {
  readonly claims: readonly NodeClaim[];
  readonly knowledge: Knowledge;
  readonly events: DisruptionReport["events"];
}

async function publish({ claims, knowledge, events }: Outcome, deps: ClusterDeps): Promise<void> {
  await mirrorConditions(claims, knowledge, deps);
  await someAtATime(events, ({ event, windowMs }) => publishOnce(event, deps, windowMs));
}

/** Whether this pass has written the command's replacements. */
function isStarted({ id, phase }: CommandRecord, before: readonly CommandRecord[]): boolean {
  return phase === "Replacing" && before.some((command) => command.id === id && command.phase === "Validating");
}

interface AdvanceTools extends Pass {
  readonly simulate: Simulate;
  /** What the last consolidation was to save. */
  readonly last: ExpectedSavings | undefined;
  readonly rate: RateInput | undefined;
  readonly breaker: CircuitBreaker;
}

/** From validation to the deletion of the nodes are three. */
const MAX_STEPS = 3;

/** Takes each command as far as it can go; returns those that are still under way, and what the last one is to save. */
async function advanceCommands(
  state: ClusterState,
  { simulate, lease, wakeTimes, last, ...limits }: AdvanceTools,
  deps: ClusterDeps,
): Promise<Pick<Scene, "commands" | "expected" | "rate" | "breaker">> {
  let expected = last;
  let { rate, breaker } = limits;
  const settings = disruptionSettings(deps.cluster.name, deps.settings);
  let commands = state.commands;
  for (const { id, problem } of commands.filter(({ phase }) => phase === "SetAside"))
    deps.log.error("disruption command cannot be read", { controller: "disruption", "command-id": id, error: problem });
  for (const command of state.commands) {
    let current: CommandRecord | undefined = command;
    let wakeAt: number | undefined;
    // A step that is due at once is taken in the same pass: nothing but this command's own steps has changed.
    for (let steps = 0; current !== undefined && steps < MAX_STEPS; steps++) {
      const standing: CommandRecord = current;
      const pause = await pausedFor("disruption", deps);
      const known = { nominatedUntil: nominations(state), pause, breaker, ...(rate && { rate }) };
      const input = { ...state, commands, settings, now: deps.now(), simulate, ...known };
      const step = advanceCommand(standing, input);
      expected = await followSavings(standing, step.next, { ...state, commands }, expected, deps);
      rate = await countEnds(standing, step.next, state, rate, deps);
      if (pause === undefined) breaker = await followMoves(standing, step.next, state, breaker, deps);
      current = await performStep(standing, step, lease, state, deps);
      const after = current;
      commands = commands.flatMap((other) => (other.id !== standing.id ? [other] : after ? [after] : []));
      wakeAt = step.wakeAt;
      if (current !== undefined && (await hasEnded(current, step, { lease, state, input }, deps))) wakeAt = undefined;
      if (step.next === undefined || (wakeAt ?? Number.POSITIVE_INFINITY) > deps.now()) break;
    }
    if (wakeAt !== undefined) wakeTimes.push(wakeAt);
  }
  return { commands, expected, rate, breaker };
}

/**
 * Ends a command whose NodeClaims this step has marked as terminating, as the table says, without a pass of its own.
 * For the rest of this pass, which has read the cluster before, it counts as under way.
 */
async function hasEnded(
  command: CommandRecord,
  { actions }: CommandStep,
  { lease, state, input }: { readonly lease: Lease; readonly state: ClusterState; readonly input: CommandInput },
  deps: ClusterDeps,
): Promise<boolean> {
  if (!actions.some(({ type }) => type === "DeleteClaim")) return false;
  const records = await deps.store.list(deps.cluster.name);
  const end = advanceCommand(command, { ...input, records, now: deps.now() });
  if (end.done === undefined) return false;
  await performStep(command, end, lease, state, deps);
  return true;
}

/** The command as it is afterwards; undefined when it is finished. */
async function performStep(
  command: CommandRecord,
  step: CommandStep,
  lease: Lease,
  state: ClusterState,
  deps: ClusterDeps,
): Promise<CommandRecord | undefined> {
  const { history = [] } = step;
  for (const action of step.actions) await performCommandAction(action, { lease, state, deps, history });
  if (step.done) {
    await deps.store.removeCommand(command, history);
    return undefined;
  }
  if (step.next === undefined) return command;
  if (step.actions.some(({ type }) => type === "WriteReplacements")) return step.next;
  return deps.store.updateCommand(step.next, history);
}
