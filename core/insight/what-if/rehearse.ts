import type { Simulate } from "../../disruption/cluster/simulation.ts";
import { advanceCommand } from "../../disruption/command/advance-command.ts";
import { type DisruptionPlan, planDisruption } from "../../disruption/plan.ts";
import type { DisruptionSettings } from "../../disruption/settings.ts";
import type { CommandRecord } from "../../model/command-record.ts";
import type { Plan } from "../../model/plan.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import type { MakeTrial } from "../../scheduling/make-trial.ts";
import { solve } from "../../scheduling/solve.ts";
import { perform } from "./perform.ts";
import { place, seenBy } from "./place.ts";
import { arrive, at, leave, type Stage } from "./stage.ts";
import { type Intents, stageOf } from "./start.ts";

const WEEK_MS = 7 * 24 * 3_600_000;

/** How a cluster is rehearsed: simulated in virtual time. */
export interface RehearsalOptions extends Intents {
  readonly settings: DisruptionSettings;
  /** How disruption simulates a removal. */
  readonly simulate: Simulate;
  /** How disruption lays a cluster out for its search; DisruptionInput.makeTrial. */
  readonly makeTrial: MakeTrial | undefined;
  /** How pending pods are planned; the product's scheduler unless set. */
  readonly provision?: (snapshot: Snapshot) => Plan;
  /**
   * How far to simulate, ms of virtual time: a budget that becomes active later is not waited for. A week unless set.
   */
  readonly lookAheadMs?: number;
  /** Decisions at most, for a cluster that never settles. 100 + 4 per node unless set. */
  readonly mostDecisions?: number;
  /** Called at each decision with the number of decisions so far and its time (ms since the epoch, virtual time). */
  readonly onDecision?: (count: number, at: number) => void;
  /** Called at each pass and, in a long one, between its simulations. */
  readonly onProgress?: (progress: Progress) => void;
}

/** How far a rehearsal is. */
export interface Progress {
  /** The pass of disruption that runs, from 1. */
  readonly pass: number;
  /** The cluster that the pass decides on. */
  readonly snapshot: Snapshot;
  /** The cluster with the change is rehearsed, after the one without it. */
  readonly isChanged?: true;
}

/** One step of a course: a command that was started, or NodeClaims that were created. */
export type Step =
  | { readonly kind: "disruption"; readonly at: number; readonly command: CommandRecord }
  /** NodeClaims for pending pods or for static NodePools. */
  | { readonly kind: "purchase"; readonly at: number; readonly claims: readonly string[]; readonly pods: number };

/** The course of a rehearsal, from the start to its end. */
export interface Course {
  readonly steps: readonly Step[];
  /** The cluster at the end. */
  readonly end: Snapshot;
  /**
   * "settled": nothing is left to do. "waiting": something is due after `lookAheadMs`. "unsettled": stopped at
   * `mostDecisions`.
   */
  readonly outcome: "settled" | "waiting" | "unsettled";
  /** When the last node was initialized or removed, ms since the epoch; the start when nothing was done. */
  readonly settledAt: number;
  /** How many times a pod had to leave its node. */
  readonly podsMoved: number;
  /** Passes of disruption. */
  readonly passes: number;
  /** Commands that failed, mostly in their validation. */
  readonly abandoned: number;
  /** The last pass, which says why each remaining node is not disrupted. */
  readonly last: DisruptionPlan;
  /** Pods that stay pending: "namespace/name" to the reason. */
  readonly podErrors: Readonly<Record<string, string>>;
  /** Names of NodeClaims whose drain never ends, because pods cannot be evicted. */
  readonly stuck: readonly string[];
}

/**
 * Simulates a cluster in virtual time until nothing is left to do: pending pods get nodes, passes of disruption decide,
 * and commands run concurrently as far as budgets allow. A node is initialized UP_MS after the decision, and a drain
 * takes rounds of DRAIN_MS (drain-time.ts). No pods are created or deleted by users, nothing expires, and no capacity
 * is missing. Equal input gives an equal course.
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
    if (placed === undefined || !isUnchanged(stage, placed)) {
      const result = place(stage, provision, options.settings.staticCapacity ?? false);
      if (result.claims.length > 0) steps.push({ kind: "purchase", at: now, claims: result.claims, pods: result.pods });
      podErrors = result.podErrors;
      stage = result.stage;
      placed = stage;
    }
    const advanced = advanceCommands(stage, options);
    for (const command of advanced.started) steps.push({ kind: "disruption", at: now, command });
    abandoned += advanced.abandoned;
    stage = advanced.stage;

    const plan = decide(stage, passes++, options);
    if (plan.command && decisions++ < mostDecisions) {
      stage = { ...stage, commands: [...stage.commands, plan.command] };
      options.onDecision?.(decisions, now);
      // A Drift command is due at once: execute it before time advances.
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

/** Whether nothing but the time has changed: then pods that did not schedule do not schedule now. */
function isUnchanged({ snapshot: a, commands }: Stage, { snapshot: b, commands: before }: Stage): boolean {
  return a.pods === b.pods && a.nodes === b.nodes && a.nodeClaims === b.nodeClaims && commands === before;
}

/** One pass of disruption. */
function decide(stage: Stage, passes: number, options: RehearsalOptions): DisruptionPlan {
  const { settings, simulate, makeTrial, onProgress } = options;
  const { commands, nominatedUntil } = stage;
  const snapshot = seenBy(stage);
  const { now } = snapshot;
  const newId = (): string => `what-if-${passes}`;
  const report = (): void => onProgress?.({ pass: passes + 1, snapshot: stage.snapshot });
  report();
  // A rehearsal has time without end; the method asks between its simulations, which is when progress can be reported.
  const outOfTime = (): boolean => {
    report();
    return false;
  };
  return planDisruption({ snapshot, records: [], commands, settings, now, simulate, makeTrial, newId, nominatedUntil, outOfTime });
}

interface Advanced {
  readonly stage: Stage;
  /** Commands whose validation succeeded. */
  readonly started: readonly CommandRecord[];
  readonly abandoned: number;
}

/** Executes each command as far as it gets at this time. */
function advanceCommands(from: Stage, { settings, simulate }: RehearsalOptions): Advanced {
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

/** Whether a step of the command could change nothing at this time. */
function isWaiting({ phase, dueAt, replacementClaims }: CommandRecord, { snapshot, coming }: Stage): boolean {
  if (phase === "Validating") return dueAt > snapshot.now;
  return phase === "Replacing" && replacementClaims.some((name) => coming.has(name));
}

/** The next time (ms since the epoch) at which anything is due; undefined when nothing is. */
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
