import { parseDuration } from "../lib/duration.ts";
import { fromRfc3339, isTrue } from "../model/conditions.ts";
import { LAUNCH_BACKOFF, NODE_POOL } from "../model/labels.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { NodePool } from "../model/node-pool.ts";
import { generationsOf } from "./registration-health.ts";

/** The ways in which a machine is bought for nothing: its node never registers, or ends before one of its pods ran. */
const ENDS = ["unregistered", "unused"] as const;
type End = (typeof ENDS)[number];

/** A machine that was bought for nothing. */
export interface FailedLaunch {
  readonly end: End;
  /** When its NodeClaim was planned, ms since the epoch. */
  readonly plannedAt: number;
}

/** The tries in a row that have failed. Machines that were planned before a failure was known are of the same try. */
interface Backoff {
  readonly tries: number;
  readonly end: End;
  /** When the first NodeClaim of the last try that failed was planned, ms. */
  readonly plannedAt: number;
  /** When the last try was known to have failed, ms. */
  readonly failedAt: number;
}

/** The wait after the first try that fails; each further one doubles it. No benchmark has tuned these. */
const FIRST_WAIT_MS = 60_000;
const MAX_WAIT_MS = 30 * 60_000;
/** A failure is forgotten after this time: the longest wait, and what a node may take to register after it. */
const FORGOTTEN_MS = 60 * 60_000;

/**
 * The shortest `expireAfter` that is accepted. A node takes about this long to start: one that lives for less is
 * replaced for ever before it has served. What lives a little longer and serves too little has the back-off.
 */
const MIN_EXPIRE_AFTER_MS = 60_000;

/** What is wrong with a lifetime that ends before a node can serve, in one sentence; undefined when nothing is. */
export function expiryProblem({ spec }: Pick<NodePool, "spec">): string | undefined {
  const { expireAfter = "Never" } = spec.template.spec;
  const lifetime = parseDuration(expireAfter);
  return lifetime === undefined || lifetime >= MIN_EXPIRE_AFTER_MS
    ? undefined
    : `spec.template.spec.expireAfter: ${expireAfter} ends before a node has started and served; give 1m or more, or Never`;
}

function backoffOf(pool: NodePool): Backoff | undefined {
  const [about, tries = "", end = "", planned, failed] = (pool.metadata.annotations?.[LAUNCH_BACKOFF] ?? "").split(" ");
  const read = {
    tries: Number(tries),
    end: ENDS.find((one) => one === end),
    plannedAt: fromRfc3339(planned),
    failedAt: fromRfc3339(failed),
  };
  const isWhole = Number.isInteger(read.tries) && read.tries > 0 && read.plannedAt <= read.failedAt;
  return isWhole && read.end !== undefined && about === generationsOf(pool) ? { ...read, end: read.end } : undefined;
}

const waitMs = (tries: number): number => Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1));

/** Until when a NodePool launches nothing, ms since the epoch, and why; undefined when it may. */
export function launchHold(pool: NodePool, now: number): { readonly until: number; readonly text: string } | undefined {
  const backoff = backoffOf(pool);
  if (backoff === undefined) return undefined;
  const until = backoff.failedAt + waitMs(backoff.tries);
  return now >= until ? undefined : { until, text: holdText(backoff, until) };
}

function holdText({ tries, end }: Backoff, until: number): string {
  const last = tries === 1 ? "the last try" : `the last ${tries} tries`;
  const why = end === "unregistered" ? `no node of ${last} has registered` : `the nodes of ${last} ended before a pod ran on them`;
  const at = new Date(until).toISOString().slice(11, 19);
  return `launches nothing until ${at} UTC: ${why}; see the events of its NodeClaims, and change the NodePool or its EC2NodeClass to try at once`;
}

/**
 * The NodePool with one more failed launch in its annotation; the same NodePool when it is of a try that has failed
 * already, so that a NodeClaim counts once, however often it is reported.
 */
export function withFailedLaunch(pool: NodePool, { end, plannedAt }: FailedLaunch, now: number): NodePool {
  const last = backoffOf(pool);
  if (last !== undefined && plannedAt <= last.failedAt) return pool;
  const tries = last !== undefined && now - last.failedAt < FORGOTTEN_MS ? last.tries + 1 : 1;
  const text = [generationsOf(pool), tries, end, ...[plannedAt, now].map((ms) => new Date(ms).toISOString())].join(" ");
  return { ...pool, metadata: { ...pool.metadata, annotations: { ...pool.metadata.annotations, [LAUNCH_BACKOFF]: text } } };
}

/** The NodePool once one of its nodes has registered, which ends the wait for nodes that do not. */
export function afterRegistration(pool: NodePool): NodePool {
  return backoffOf(pool)?.end === "unregistered" ? withoutBackoff(pool) : pool;
}

/** Whether a registered node changes nothing about the NodePool's back-off. */
export const hasNoBackoff = (pool: NodePool): boolean => backoffOf(pool) === undefined;

function withoutBackoff(pool: NodePool): NodePool {
  const { [LAUNCH_BACKOFF]: _, ...annotations } = pool.metadata.annotations ?? {};
  return { ...pool, metadata: { ...pool.metadata, annotations } };
}

/**
 * The NodePools as a plan sees them: where another node of the same try has registered, one machine was at fault, and
 * the NodePool does not wait.
 */
export function withProvenPools(pools: readonly NodePool[], claims: readonly NodeClaim[]): readonly NodePool[] {
  return pools.map((pool) => {
    const backoff = backoffOf(pool);
    if (backoff?.end !== "unregistered") return pool;
    // Times of the API server are whole seconds.
    const hasRegistered = claims.some(
      ({ metadata, status }) =>
        metadata.labels?.[NODE_POOL] === pool.metadata.name &&
        isTrue(status?.conditions, "Registered") &&
        fromRfc3339(metadata.creationTimestamp) + 1_000 > backoff.plannedAt,
    );
    return hasRegistered ? withoutBackoff(pool) : pool;
  });
}

/** When the first NodePool that waits may launch again, ms since the epoch. */
export function nextLaunchAt(pools: readonly NodePool[], now: number): number | undefined {
  const times = pools.flatMap((pool) => launchHold(pool, now)?.until ?? []);
  return times.length === 0 ? undefined : Math.min(...times);
}
