import type { Simulate } from "../disruption/cluster/simulation.ts";
import { advanceCommand } from "../disruption/command/advance-command.ts";
import { simulateWithSolve } from "../disruption/consolidation/simulate.ts";
import { type DisruptionPlan, planDisruption } from "../disruption/plan.ts";
import type { DisruptionSettings } from "../disruption/settings.ts";
import type { CommandRecord } from "../model/command-record.ts";
import type { Plan } from "../model/plan.ts";
import type { Snapshot } from "../model/snapshot.ts";
import { solve } from "../scheduling/solve.ts";
import { perform } from "./perform.ts";
import { place, seenBy } from "./place.ts";
import { arrive, at, leave, type Stage } from "./stage.ts";
import { type Intents, stageOf } from "./start.ts";

const WEEK_MS = 7 * 24 * 3_600_000;

export interface RehearsalOptions extends Intents {
  readonly settings: DisruptionSettings;
  /** How disruption tries a removal; the product's scheduler unless given. */
  readonly simulate?: Simulate;
  /** How pending pods are planned; the product's scheduler unless given. */
  readonly provision?: (snapshot: Snapshot) => Plan;
  /** How far ahead to look, ms of rehearsed time: a budget that opens later is not waited for. A week unless given. */
  readonly lookAheadMs?: number;
  /** A net under a search that never settles: no more decisions than this. */
  readonly mostDecisions?: number;
  /** Told of each decision: how many there were, and when it was made (ms of rehearsed time). */
  readonly onDecision?: (count: number, at: number) => void;
}

/** Something that was done. */
export type Step =
  | { readonly kind: "disruption"; readonly at: number; readonly command: CommandRecord }
  /** Machines for pods that waited, or for a static pool. */
  | { readonly kind: "purchase"; readonly at: number; readonly claims: readonly string[]; readonly pods: number };

/** What became of a cluster. */
export interface Course {
  readonly steps: readonly Step[];
  /** The cluster at the end. */
  readonly end: Snapshot;
  /** "waiting": something may still be done, beyond that. "unsettled": stopped at `mostDecisions`. */
  readonly outcome: "settled" | "waiting" | "unsettled";
  /** When the last machine came or went, ms; the start when nothing was done. */
  readonly settledAt: number;
  /** Pods that had to leave their node, each time counted. */
  readonly podsMoved: number;
  /** How often disruption was asked. */
  readonly passes: number;
  /** Decisions that did not hold when they were looked at again. */
  readonly abandoned: number;
  /** Why each node that is left stays. */
  readonly last: DisruptionPlan;
  /** "namespace/name" to why the pod is left without a place. */
  readonly podErrors: Readonly<Record<string, string>>;
  /** NodeClaims that are told to go and that pods hold for ever. */
  readonly stuck: readonly string[];
}

/**
 * Carries a cluster on until nothing is left to do, as the product would: pods that wait get machines, one pass of disruption after another decides, and
 * its commands run side by side as far as budgets allow. Time is counted, nothing is waited for: a machine is up UP_MS after it was decided on, a drain takes
 * DRAIN_MS or what PodDisruptionBudgets make of it. Pods neither come nor go, nothing expires, no capacity is short. The same input gives the same course.
 */
export function rehearse(start: Snapshot, options: RehearsalOptions): Course {
  const provision = options.provision ?? solve;
  const mostDecisions = options.mostDecisions ?? 100 + 4 * start.nodes.length;
  const until = start.now + (options.lookAheadMs ?? WEEK_MS);
  const steps: Step[] = [];
  let stage = stageOf(start, options);
  let placed: Stage | undefined;
  let podErrors: Readonly<Record<string, string>> = {};
  let [passes, decisions, abandoned, settledAt] = [0, 0, 0, start.now];
  for (;;) {
    const { now } = stage.snapshot;
    const before = stage;
    stage = leave(arrive(stage));
    if (stage !== before) settledAt = now;
    if (placed === undefined || !isAlike(stage, placed)) {
      const bought = place(stage, provision, options.settings.staticCapacity ?? false);
      if (bought.claims.length > 0) steps.push({ kind: "purchase", at: now, claims: bought.claims, pods: bought.pods });
      podErrors = bought.podErrors;
      stage = bought.stage;
      placed = stage;
    }
    const carried = carryOn(stage, options);
    for (const command of carried.started) steps.push({ kind: "disruption", at: now, command });
    abandoned += carried.abandoned;
    stage = carried.stage;

    const plan = decide(stage, `what-if-${passes++}`, options);
    if (plan.command && decisions++ < mostDecisions) {
      stage = { ...stage, commands: [...stage.commands, plan.command] };
      options.onDecision?.(decisions, now);
      // What drifted need not be looked at again.
      if (plan.command.dueAt <= now) continue;
    }
    const next = plan.command && decisions > mostDecisions ? undefined : nextTime(stage, plan);
    if (next === undefined || next > until) {
      const outcome = decisions > mostDecisions ? "unsettled" : next === undefined ? "settled" : "waiting";
      const stuck = [...stage.leaving].flatMap(([name, when]) => (when === Number.POSITIVE_INFINITY ? [name] : []));
      const { podsMoved } = stage;
      return { steps, end: stage.snapshot, outcome, settledAt, podsMoved, passes, abandoned, last: plan, podErrors, stuck };
    }
    stage = at(stage, next);
  }
}

/** Whether nothing has changed but the time: then pods that found no place find none again. */
function isAlike({ snapshot: a, commands }: Stage, { snapshot: b, commands: before }: Stage): boolean {
  return a.pods === b.pods && a.nodes === b.nodes && a.nodeClaims === b.nodeClaims && commands === before;
}

function decide(stage: Stage, id: string, options: RehearsalOptions): DisruptionPlan {
  const { settings, simulate = simulateWithSolve } = options;
  const { commands, nominatedUntil } = stage;
  const snapshot = seenBy(stage);
  return planDisruption({ snapshot, records: [], commands, settings, now: snapshot.now, simulate, newId: () => id, nominatedUntil });
}

interface Carried {
  readonly stage: Stage;
  /** Commands that have begun to be carried out. */
  readonly started: readonly CommandRecord[];
  readonly abandoned: number;
}

/** Takes each command as far as it comes at this time. */
function carryOn(from: Stage, { settings, simulate = simulateWithSolve }: RehearsalOptions): Carried {
  const started: CommandRecord[] = [];
  let abandoned = 0;
  let stage = from;
  for (const { id } of from.commands) {
    for (;;) {
      const command = stage.commands.find((one) => one.id === id);
      if (command === undefined || isWaiting(command, stage)) break;
      const { commands, nominatedUntil } = stage;
      const snapshot = seenBy(stage);
      const step = advanceCommand(command, { snapshot, records: [], commands, settings, now: snapshot.now, simulate, nominatedUntil });
      const next = step.done ? undefined : (step.next ?? command);
      if (command.phase === "Validating" && step.next) started.push(step.next);
      if (step.done === "failed") abandoned++;
      stage = step.actions.reduce(perform, stage);
      stage = { ...stage, commands: stage.commands.flatMap((one) => (one.id !== id ? [one] : next ? [next] : [])) };
      if (next === command && step.actions.length === 0) break;
    }
  }
  return { stage, started, abandoned };
}

/** Whether a look at the command could not find anything new. */
function isWaiting({ phase, dueAt, replacementClaims }: CommandRecord, { snapshot, coming }: Stage): boolean {
  if (phase === "Validating") return dueAt > snapshot.now;
  return phase === "Replacing" && replacementClaims.some((name) => coming.has(name));
}

/** The next time (ms) at which there is something to do or to look at; undefined when there is none. */
function nextTime({ snapshot, coming, leaving, commands }: Stage, { nextDueAt }: DisruptionPlan): number | undefined {
  const times = [
    ...[...coming.values()].map((machine) => machine.at),
    ...leaving.values(),
    ...commands.flatMap(({ phase, dueAt }) => (phase === "Validating" ? [dueAt] : [])),
    ...(nextDueAt === undefined ? [] : [nextDueAt]),
  ];
  const next = Math.min(...times.filter((time) => time > snapshot.now));
  return next === Number.POSITIVE_INFINITY ? undefined : next;
}
