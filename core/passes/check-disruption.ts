import type { CommandRecord } from "../model/command-record.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { WakeUpReason } from "../ports/wake-up-causes.ts";
import { SETTLE_MS, UNTIL_WRITTEN_MS } from "../signals/signal.ts";
import { DISRUPTION_CAUSES } from "./causes.ts";
import { type Read, read, SKIP, type Skip } from "./verdict.ts";

/** A pass that was made so long before a sweep, ms, has seen what the sweep would. */
const PASS_SERVES_MS = 30_000;

/** Sweeps read definitions again and report those that cannot be read, so one pass in so many ms does so, too. */
export const SWEEPS_APART_MS = 90_000;

/** By how much the clocks of two processes may differ, ms. */
const CLOCK_TOLERANCE_MS = 1_000;

/** How long ago a pass may have begun that has seen the change of a wake-up that swarms, ms. */
export const SWARM_MS = SETTLE_MS - UNTIL_WRITTEN_MS;

/**
 * Times at which a node may be disrupted are checked together, at multiples of so many ms: nodes and pods that came
 * together have times that follow each other closely. Karpenter polls each 10 s
 * (karpenter: pkg/controllers/disruption/controller.go, pollingPeriod).
 */
const RASTER_MS = 5_000;

/** When a pass checks what is due at a time, ms since the epoch. */
export const checkedAt = (dueAt: number): number => Math.ceil(dueAt / RASTER_MS) * RASTER_MS;

/** When passes of this process began, ms since the epoch. */
export interface LastPasses {
  readonly any: number | undefined;
  /** The last pass that read all definitions again, as a sweep does. */
  readonly fresh: number | undefined;
}

/**
 * Whether a pass of this process has seen the changes of the wake-ups that arrive now. Each pod that is bound or
 * deleted, and each node that is removed, sends a wake-up of its own; one pass serves all of them. A pass that starts
 * within SWARM_MS of a wake-up has already seen its change, because the wake-up arrives SETTLE_MS after the change.
 */
export function coversSwarm({ any }: LastPasses, now: number): boolean {
  const sinceMs = now - (any ?? Number.NEGATIVE_INFINITY);
  return sinceMs >= 0 && sinceMs < SWARM_MS;
}

function coversSweep({ any, fresh }: LastPasses, now: number): boolean {
  const isWithin = (began: number | undefined, ms: number): boolean => began !== undefined && Math.abs(now - began) < ms;
  return isWithin(any, PASS_SERVES_MS) && isWithin(fresh, SWEEPS_APART_MS);
}

/** What can be read before a pass. */
export interface DisruptionFacts {
  /** Whether no pass of any process has claimed the present span of SWARM_MS; reading it claims the span. */
  readonly isFirstOfSpan: boolean;
  /** When the last pass asked for the next one, ms since the epoch; NaN when it is not known. */
  readonly nextPassAt: number;
  readonly commands: readonly CommandRecord[];
  readonly records: readonly NodeClaimRecord[];
}

interface DisruptionState {
  readonly cause: WakeUpReason<"disruption">["cause"];
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly last: LastPasses;
  /** The cluster is being taken from the stack: it loses its nodes without any decision. */
  readonly isLeaving: boolean;
  /** A cluster without nodes has work all the same: room of CapacityBuffers, or its price in the stack's sum. */
  readonly hasWorkWithoutNodes: boolean;
}

type Answer =
  | Read<keyof DisruptionFacts>
  | Skip
  | { readonly next: "wait"; readonly until: number }
  /** @param isFresh definitions are read again, however recently they were read */
  | { readonly next: "run"; readonly isFresh: boolean };

/** Whether a wake-up or a sweep needs a disruption pass: each costs some eight lists. */
export function checkDisruption(state: DisruptionState, facts: Partial<DisruptionFacts>): Answer {
  const { cause, now, last } = state;
  const { swarms, usesKnownDefinitions } = DISRUPTION_CAUSES[cause];
  if (cause === "Sweep" && coversSweep(last, now)) return SKIP;
  if (swarms && coversSwarm(last, now)) return SKIP;
  if (swarms && facts.isFirstOfSpan === undefined) return read("isFirstOfSpan");
  if (facts.isFirstOfSpan === false) return SKIP;
  if (cause === "Due" && facts.nextPassAt === undefined) return read("nextPassAt");
  if (facts.nextPassAt !== undefined && !isDue(facts.nextPassAt, now)) return SKIP;
  if (state.isLeaving) return SKIP;
  const { commands, records } = facts;
  if (commands === undefined) return read("commands");
  const validatedAt = awaitedValidation(commands, now);
  if (validatedAt !== undefined && cause !== "ReplacementReady") return { next: "wait", until: validatedAt };
  if (cause === "NodesRemoved" && commands.length === 0 && !state.hasWorkWithoutNodes) {
    if (records === undefined) return read("records");
    if (records.length === 0) return SKIP;
  }
  // A command must be validated by what is true now: its nodes are removed afterwards.
  const isFresh = !usesKnownDefinitions || commands.some(({ phase, dueAt }) => phase === "Validating" && dueAt <= now);
  return { next: "run", isFresh };
}

/**
 * Whether a time that a pass asked for has come. Later passes have seen everything, and asked for another time: a
 * wake-up for an earlier time finds nothing that time has changed.
 */
const isDue = (nextPassAt: number, now: number): boolean => Number.isNaN(nextPassAt) || now >= nextPassAt - CLOCK_TOLERANCE_MS;

/**
 * Until when nothing is decided because a command waits for its validation, ms since the epoch: the pass that validates
 * it sees all that has changed. Undefined when there is no such command, and when a command has a step left to do. A
 * command that waits for its replacements may wait so long, unless one of them is ready.
 */
function awaitedValidation(commands: readonly CommandRecord[], now: number): number | undefined {
  const validating = commands.filter(({ phase }) => phase === "Validating");
  if (commands.some(({ phase }) => phase === "Deleting" || phase === "RollingBack")) return undefined;
  const dueAt = Math.min(...validating.map((command) => command.dueAt));
  return validating.length > 0 && dueAt > now ? dueAt : undefined;
}
