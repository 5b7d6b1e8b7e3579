import type { CommandRecord, DisruptionReason } from "../../model/command-record.ts";
import { CIRCUIT_RESET } from "../../model/labels.ts";
import type { NodePool } from "../../model/node-pool.ts";
import type { Pod } from "../../model/pod.ts";
import { generationsOf } from "../../node-pool/registration-health.ts";
import { type MovedPods, shareWell } from "./pod-health.ts";

/** A command whose pods are compared with before. */
export interface Move {
  readonly command: string;
  readonly reason: DisruptionReason;
  readonly pools: readonly string[];
  /** The NodeClaims that end. */
  readonly claims: readonly string[];
  readonly at: number;
  readonly moved: MovedPods;
  /** When all its nodes were first seen to be gone, ms since the epoch. */
  readonly goneAt?: number;
}

/** Why a reason stands still for a NodePool. Times in ms since the epoch. */
export interface OpenCircuit {
  readonly until: number;
  /** How often in a row it has opened; each time it stays open for twice as long. */
  readonly trips: number;
  readonly why: string;
  readonly moved: MovedPods;
  /** What a person may change to close it. */
  readonly reset: string;
}

/** What is remembered of a cluster, as the table keeps it. Keys of `open` and `lost` are "NODEPOOL/REASON". */
export interface CircuitBreaker {
  readonly moves: readonly Move[];
  readonly open: Readonly<Record<string, OpenCircuit>>;
  /** NodePool to when pods of a drifted node were last seen to be well. */
  readonly provenAt: Readonly<Record<string, number>>;
  /** Commands whose replacements did not come up, one after the other. */
  readonly lost: Readonly<Record<string, readonly string[]>>;
}

export const CLOSED: CircuitBreaker = { moves: [], open: {}, provenAt: {}, lost: {} };

/** The cluster at the time of a pass. */
export interface BreakerFacts {
  readonly now: number;
  readonly pods: readonly Pod[];
  /** NodeClaims that stand, and those among them that are going. */
  readonly claims: ReadonlySet<string>;
  readonly going: ReadonlySet<string>;
  readonly commands: readonly Pick<CommandRecord, "id">[];
  readonly nodePools: readonly NodePool[];
  /** What the nodes of these pods' owners that are worse have in common, as the end of a sentence; "" for nothing. */
  readonly commonOf: (moved: MovedPods) => string;
}

const MINUTE_MS = 60_000;
const MIN_WELL = 0.9;
/** How long pods must have been Ready to count as well, ms. */
const STEADY_MS = MINUTE_MS;
/** How long pods are given to become well once their nodes are gone, ms. */
const PATIENCE_MS = 5 * MINUTE_MS;
const FIRST_WAIT_MS = 15 * MINUTE_MS;
const MAX_WAIT_MS = 4 * 60 * MINUTE_MS;
/** A NodePool's drift begins with one node again when none was seen to be well for so long, ms. */
const PROVEN_MS = 60 * MINUTE_MS;
/** Commands in a row whose replacements do not come up. */
const MAX_LOST = 2;

const keyOf = (pool: string, reason: DisruptionReason): string => `${pool}/${reason}`;
const without = <T>(of: Readonly<Record<string, T>>, keys: readonly string[]): Readonly<Record<string, T>> =>
  keys.some((key) => Object.hasOwn(of, key)) ? Object.fromEntries(Object.entries(of).filter(([key]) => !keys.includes(key))) : of;

const resetOf = (key: string, pools: readonly NodePool[]): string => {
  const pool = pools.find(({ metadata }) => key.startsWith(`${metadata.name}/`));
  return pool === undefined ? "" : `${generationsOf(pool)} ${pool.metadata.annotations?.[CIRCUIT_RESET] ?? ""}`;
};

/** The breaker with a command that begins and moves pods. */
export function withMove(breaker: CircuitBreaker, move: Move): CircuitBreaker {
  const isKnown = breaker.moves.some(({ command }) => command === move.command);
  return isKnown || Object.keys(move.moved).length === 0 ? breaker : { ...breaker, moves: [...breaker.moves, move] };
}

/** The breaker with a command whose replacements did not come up. */
export function withLost(
  breaker: CircuitBreaker,
  { id, reason }: Pick<CommandRecord, "id" | "reason">,
  pools: readonly string[],
  { now, nodePools }: Pick<BreakerFacts, "now" | "nodePools">,
): CircuitBreaker {
  let next: CircuitBreaker = { ...breaker, moves: breaker.moves.filter(({ command }) => command !== id) };
  for (const pool of pools) {
    const key = keyOf(pool, reason);
    const lost = [...new Set([...(next.lost[key] ?? []), id])];
    next = { ...next, lost: { ...next.lost, [key]: lost } };
    if (lost.length < MAX_LOST) continue;
    const why = `the replacements of ${lost.length} commands in a row did not come up`;
    next = opened({ ...next, lost: without(next.lost, [key]) }, [key], { why, moved: {} }, { now, nodePools });
  }
  return next;
}

function opened(
  breaker: CircuitBreaker,
  keys: readonly string[],
  { why, moved }: Pick<OpenCircuit, "why" | "moved">,
  { now, nodePools }: Pick<BreakerFacts, "now" | "nodePools">,
): CircuitBreaker {
  const circuits = keys.map((key): readonly [string, OpenCircuit] => {
    const trips = (breaker.open[key]?.trips ?? 0) + 1;
    const until = now + Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (trips - 1));
    return [key, { until, trips, why, moved, reset: resetOf(key, nodePools) }];
  });
  return { ...breaker, open: { ...breaker.open, ...Object.fromEntries(circuits) } };
}

/**
 * The breaker after a look at the pods: moves whose pods are well are forgotten and close it, and those whose pods are
 * worse five minutes after their nodes have gone open it. The same breaker when nothing changes.
 */
export function look(breaker: CircuitBreaker, facts: BreakerFacts): CircuitBreaker {
  const { now, pods, claims, going, commands } = facts;
  const isWell = (moved: MovedPods): boolean => shareWell(moved, pods, now - STEADY_MS) >= MIN_WELL;
  let next = closed(breaker, facts, isWell);
  for (const move of breaker.moves) {
    const rest = next.moves.filter((one) => one !== move);
    const keys = move.pools.map((pool) => keyOf(pool, move.reason));
    const stand = move.claims.filter((name) => claims.has(name));
    const isGivenUp = stand.length > 0 && !commands.some(({ id }) => id === move.command) && !stand.some((name) => going.has(name));
    if (isGivenUp) next = { ...next, moves: rest };
    if (stand.length > 0) continue;
    const { goneAt = now } = move;
    if (isWell(move.moved)) {
      const proven = move.reason === "Drifted" ? Object.fromEntries(move.pools.map((pool) => [pool, now])) : {};
      next = { moves: rest, open: without(next.open, keys), lost: without(next.lost, keys), provenAt: { ...next.provenAt, ...proven } };
    } else if (now - goneAt >= PATIENCE_MS) {
      const share = Math.round(100 * shareWell(move.moved, pods, now - STEADY_MS));
      const why = `only ${share} % of the pods that command ${move.command} moved are as well as before${facts.commonOf(move.moved)}`;
      next = opened({ ...next, moves: rest }, keys, { why, moved: move.moved }, facts);
    } else if (move.goneAt === undefined) next = { ...next, moves: [...rest, { ...move, goneAt }] };
  }
  return next;
}

/** Without circuits whose pods are better, that a person has reset, or that have been closed for long. */
function closed(breaker: CircuitBreaker, { now, nodePools }: BreakerFacts, isWell: (moved: MovedPods) => boolean): CircuitBreaker {
  const over = Object.entries(breaker.open).flatMap(([key, { until, moved, reset }]) => {
    const isBetter = Object.keys(moved).length > 0 && isWell(moved);
    return isBetter || reset !== resetOf(key, nodePools) || now - until > MAX_WAIT_MS ? [key] : [];
  });
  return over.length === 0 ? breaker : { ...breaker, open: without(breaker.open, over) };
}

/** Why a reason stands still for a NodePool at `now`, ms; undefined when nodes may go. */
export function circuitHold(
  { open, moves, provenAt }: CircuitBreaker,
  pool: string,
  reason: DisruptionReason,
  now: number,
): { readonly why: string; readonly until?: number } | undefined {
  const circuit = open[keyOf(pool, reason)];
  if (circuit !== undefined && now < circuit.until) return circuit;
  const isFirst = reason === "Drifted" && now - (provenAt[pool] ?? 0) > PROVEN_MS;
  return isFirst && moves.some((move) => move.reason === reason && move.pools.includes(pool))
    ? { why: "the pods of the first drifted node are waited for" }
    : undefined;
}

const LOOK_MS = 30_000;

/** When pods are looked at next, or a circuit closes, ms since the epoch; Infinity when nothing is waited for. */
export function nextCircuitLookAt({ moves, open }: CircuitBreaker, now: number): number {
  const look = moves.length === 0 ? [] : [(Math.floor(now / LOOK_MS) + 1) * LOOK_MS];
  return Math.min(Number.POSITIVE_INFINITY, ...look, ...Object.values(open).flatMap(({ until }) => (until > now ? [until] : [])));
}
