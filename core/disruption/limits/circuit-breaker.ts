import type { CommandRecord, DisruptionReason } from "../../model/command-record.ts";
import { CIRCUIT_RESET } from "../../model/labels.ts";
import type { NodePool } from "../../model/node-pool.ts";
import type { Pod } from "../../model/pod.ts";
import { generationsOf } from "../../node-pool/registration-health.ts";
import { type DriftTargets, scopesOf } from "./drift-targets.ts";
import { type MovedPods, shareWell } from "./pod-health.ts";

/** A command whose pods are compared with before. */
export interface Move {
  readonly command: string;
  readonly reason: DisruptionReason;
  readonly pools: readonly string[];
  /** The NodeClaims that end. */
  readonly claims: readonly string[];
  /** Of drift: what the new nodes are made of (drift-targets.ts), as it was when the command began. */
  readonly targets: DriftTargets;
  readonly at: number;
  readonly moved: MovedPods;
  /** When all its nodes were first seen to be gone, ms since the epoch. */
  readonly goneAt?: number;
}

/** Why a reason is held. Times in ms since the epoch. */
interface OpenCircuit {
  readonly until: number;
  /** How often in a row it has opened; each time it stays open for twice as long. */
  readonly trips: number;
  readonly why: string;
  readonly moved: MovedPods;
  /** The NodePools whose pods moved. */
  readonly pools: readonly string[];
  /** What a person may change to close it. */
  readonly reset: string;
}

/**
 * What is remembered of a cluster, as the table keeps it. Keys of `open` are "NodePool/NAME/REASON" and
 * "EC2NodeClass/NAME/Drifted", those of `lost` "NodePool/NAME/REASON".
 */
export interface CircuitBreaker {
  readonly moves: readonly Move[];
  readonly open: Readonly<Record<string, OpenCircuit>>;
  /** What pods of a drifted node were seen to be well on. */
  readonly proven: DriftTargets;
  /** Replacements that did not come up, one after the other. */
  readonly lost: Readonly<Record<string, readonly string[]>>;
}

export const CLOSED: CircuitBreaker = { moves: [], open: {}, proven: {}, lost: {} };

/** The cluster at the time of a pass. */
export interface BreakerFacts {
  readonly now: number;
  readonly pods: readonly Pod[];
  /** NodeClaims that exist, and those among them that are going. */
  readonly claims: ReadonlySet<string>;
  readonly going: ReadonlySet<string>;
  readonly commands: readonly Pick<CommandRecord, "id">[];
  readonly nodePools: readonly NodePool[];
  readonly targets: DriftTargets;
  /** What the nodes of these pods' owners that are worse have in common, as the end of a sentence; "" for nothing. */
  readonly commonOf: (moved: MovedPods) => string;
}

type ResetFacts = Pick<BreakerFacts, "now" | "nodePools" | "targets">;

const MINUTE_MS = 60_000;
const MIN_WELL = 0.9;
/** How long pods must have been Ready to count as well, ms: once they moved, and to close what they opened. */
const STEADY_MS = MINUTE_MS;
const BETTER_MS = 5 * MINUTE_MS;
/** When pods are judged, ms after their nodes are gone. */
const PATIENCE_MS = 5 * MINUTE_MS;
/** So long the first drifted node of a NodePool is waited for while all pods are well, ms: a drain may take hours. */
const SLOW_MS = 15 * MINUTE_MS;
const FIRST_WAIT_MS = 15 * MINUTE_MS;
const MAX_WAIT_MS = 4 * 60 * MINUTE_MS;
/** Replacements in a row that do not come up. */
const MAX_LOST = 2;
/** Commands that are remembered: the pods of more at once say no more. */
const MAX_MOVES = 50;

type ByName<T> = Readonly<Record<string, T>>;

const ofPool = (pool: string, reason: DisruptionReason): string => `NodePool/${pool}/${reason}`;
const without = <T>(of: ByName<T>, keys: readonly string[]): ByName<T> =>
  keys.some((key) => Object.hasOwn(of, key)) ? Object.fromEntries(Object.entries(of).filter(([key]) => !keys.includes(key))) : of;
const kept = <T>(of: ByName<T>, isKept: (key: string, value: T) => boolean): ByName<T> =>
  without(
    of,
    Object.entries(of).flatMap(([key, value]) => (isKept(key, value) ? [] : [key])),
  );

const resetOf = (names: readonly string[], { nodePools, targets }: Omit<ResetFacts, "now">): string =>
  nodePools
    .filter(({ metadata }) => names.includes(metadata.name))
    .map((pool) => [generationsOf(pool), pool.metadata.annotations?.[CIRCUIT_RESET], ...scopesOf(pool).map((scope) => targets[scope])])
    .join(" ");

/** The breaker with a command that begins and moves pods. */
export function withMove(breaker: CircuitBreaker, move: Move): CircuitBreaker {
  const isKnown = breaker.moves.some(({ command }) => command === move.command);
  if (isKnown || Object.keys(move.moved).length === 0) return breaker;
  return { ...breaker, moves: [...breaker.moves, move].slice(-MAX_MOVES) };
}

/** The breaker with a command whose launched replacements did not come up. */
export function withLost(
  breaker: CircuitBreaker,
  { id, reason }: Pick<CommandRecord, "id" | "reason">,
  { pools, replacements }: { readonly pools: readonly string[]; readonly replacements: readonly string[] },
  facts: ResetFacts,
): CircuitBreaker {
  let next: CircuitBreaker = { ...breaker, moves: breaker.moves.filter(({ command }) => command !== id) };
  for (const pool of replacements.length > 0 ? pools : []) {
    const key = ofPool(pool, reason);
    const lost = [...new Set([...(next.lost[key] ?? []), ...replacements])];
    next = { ...next, lost: { ...next.lost, [key]: lost } };
    if (lost.length < MAX_LOST) continue;
    const why = `${lost.length} replacements in a row did not come up`;
    next = opened({ ...next, lost: without(next.lost, [key]) }, [key], { why, moved: {}, pools: [pool] }, facts);
  }
  return next;
}

function opened(
  breaker: CircuitBreaker,
  keys: readonly string[],
  { why, moved, pools }: Pick<OpenCircuit, "why" | "moved" | "pools">,
  facts: ResetFacts,
): CircuitBreaker {
  const circuits = keys.map((key): readonly [string, OpenCircuit] => {
    const trips = (breaker.open[key]?.trips ?? 0) + 1;
    const until = facts.now + Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (trips - 1));
    return [key, { until, trips, why, moved, pools, reset: resetOf(pools, facts) }];
  });
  return { ...breaker, open: { ...breaker.open, ...Object.fromEntries(circuits) } };
}

/**
 * The breaker after a look at the pods: five minutes after the nodes of a command have gone, its pods close what they
 * have opened, or open it. The same breaker when nothing changes.
 */
export function look(breaker: CircuitBreaker, facts: BreakerFacts): CircuitBreaker {
  const current = refreshed(breaker, facts);
  return current.moves.reduce((next, move) => judged(next, move, facts), current);
}

function judged(breaker: CircuitBreaker, move: Move, facts: BreakerFacts): CircuitBreaker {
  const { now, pods, claims, going, commands } = facts;
  const rest = breaker.moves.filter((one) => one !== move);
  const left = move.claims.filter((name) => claims.has(name));
  const isGivenUp = left.length > 0 && !commands.some(({ id }) => id === move.command) && !left.some((name) => going.has(name));
  if (isGivenUp) return { ...breaker, moves: rest };
  const share = shareWell(move.moved, pods, now - STEADY_MS);
  if (left.length > 0) return now - move.at >= SLOW_MS && share === 1 ? withProof(breaker, move) : breaker;
  const { goneAt = now } = move;
  if (now - goneAt < PATIENCE_MS) {
    const seen = move.goneAt === undefined ? { ...breaker, moves: [...rest, { ...move, goneAt }] } : breaker;
    return share >= MIN_WELL ? withProof(seen, move) : seen;
  }
  const keys = keysOf(move, breaker);
  if (share >= MIN_WELL) {
    const proven = withProof({ ...breaker, moves: rest }, move);
    return { ...proven, open: without(proven.open, keys), lost: without(proven.lost, keys) };
  }
  const why = `only ${Math.floor(100 * share)} % of the pods that command ${move.command} moved are as well as before${facts.commonOf(move.moved)}`;
  const next = { ...breaker, moves: rest, proven: without(breaker.proven, Object.keys(move.targets)) };
  return opened(next, keys, { why, moved: move.moved, pools: move.pools }, facts);
}

/** What a command's pods may open: its reason for its NodePools, and for an EC2NodeClass on which no pods were well. */
function keysOf({ pools, reason, targets }: Move, { proven }: CircuitBreaker): readonly string[] {
  const unproven = Object.keys(targets).filter((scope) => proven[scope] !== targets[scope]);
  return [...new Set([...pools.map((pool) => ofPool(pool, reason)), ...unproven.map((scope) => `${scope}/${reason}`)])];
}

function withProof(breaker: CircuitBreaker, { targets }: Move): CircuitBreaker {
  const isProven = Object.entries(targets).every(([scope, target]) => breaker.proven[scope] === target);
  return isProven ? breaker : { ...breaker, proven: { ...breaker.proven, ...targets } };
}

/**
 * Without circuits whose pods are better, that a person has reset, or that have been closed for long, and without what
 * is known of nodes as they are no longer made.
 */
function refreshed(breaker: CircuitBreaker, facts: BreakerFacts): CircuitBreaker {
  const { now, pods, targets } = facts;
  const isCurrent = (scope: string, target: string): boolean => targets[scope] === target;
  const proven = kept(breaker.proven, isCurrent);
  const open = kept(breaker.open, (_, { until, moved, pools, reset }) => {
    const isBetter = Object.keys(moved).length > 0 && shareWell(moved, pods, now - BETTER_MS) >= MIN_WELL;
    return !isBetter && reset === resetOf(pools, facts) && now - until <= MAX_WAIT_MS;
  });
  const moves = breaker.moves.map((move) => {
    const current = kept(move.targets, isCurrent);
    return current === move.targets ? move : { ...move, targets: current };
  });
  const hasMoves = moves.some((move, i) => move !== breaker.moves[i]);
  if (proven === breaker.proven && open === breaker.open && !hasMoves) return breaker;
  return { ...breaker, proven, open, moves };
}

/** Why a NodePool's nodes stay. */
interface CircuitHold {
  readonly why: string;
  /** ms since the epoch; absent where it is not known. */
  readonly until?: number;
}

/** Why a reason is held for a NodePool at `now`, ms; undefined when nodes may go. */
export function circuitHold(breaker: CircuitBreaker, pool: NodePool, reason: DisruptionReason, now: number): CircuitHold | undefined {
  const { open, moves, proven } = breaker;
  const scopes = scopesOf(pool);
  for (const scope of scopes) {
    const circuit = open[`${scope}/${reason}`];
    if (circuit !== undefined && now < circuit.until) return circuit;
  }
  if (reason !== "Drifted") return undefined;
  const first = scopes.find((scope) => proven[scope] === undefined && moves.some(({ targets }) => Object.hasOwn(targets, scope)));
  return first === undefined ? undefined : { why: `the pods of the first drifted node of ${first} are waited for` };
}

/** A circuit that is open, and what it holds. */
interface Opened extends OpenCircuit {
  /** "NodePool/NAME" or "EC2NodeClass/NAME". */
  readonly scope: string;
  readonly reason: string;
}

/** The circuits that are open at `now`, ms. */
export const openCircuits = ({ open }: Pick<CircuitBreaker, "open">, now: number): readonly Opened[] =>
  Object.entries(open).flatMap(([key, circuit]) => (now < circuit.until ? [{ ...circuit, ...namesIn(key) }] : []));

/** Scope and reason of a circuit, by its key. */
export function namesIn(key: string): Pick<Opened, "scope" | "reason"> {
  const cut = key.lastIndexOf("/");
  return { scope: key.slice(0, cut), reason: key.slice(cut + 1) };
}

/** "Disruption reason Drifted is held for NodePool/default until 10:42 UTC: …". */
export const circuitText = ({ scope, reason, until, why }: Pick<Opened, "scope" | "reason" | "until" | "why">): string =>
  `Disruption reason ${reason} is held for ${scope} until ${new Date(until).toISOString().slice(11, 16)} UTC: ${why}`;

const LOOK_MS = 30_000;
const SLOW_LOOK_MS = 5 * MINUTE_MS;

/** When pods are looked at next, or a circuit closes, ms since the epoch; Infinity when nothing is waited for. */
export function nextCircuitLookAt({ moves, open, proven }: CircuitBreaker, now: number): number {
  const looks = moves.map(({ at, goneAt, targets }) => {
    const isWaitedFor = Object.keys(targets).some((scope) => proven[scope] === undefined);
    if (goneAt !== undefined && !isWaitedFor) return goneAt + PATIENCE_MS;
    const period = now - at < SLOW_MS || goneAt !== undefined ? LOOK_MS : SLOW_LOOK_MS;
    return (Math.floor(now / period) + 1) * period;
  });
  const ends = Object.values(open).flatMap(({ until }) => (until > now ? [until] : []));
  return Math.min(Number.POSITIVE_INFINITY, ...looks, ...ends);
}
