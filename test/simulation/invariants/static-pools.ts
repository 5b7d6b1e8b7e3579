import { UNTRIED_TIMEOUT_MS } from "#core/lifecycle/time-limits.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import { PRODUCT } from "#lab/world/api-server.ts";
import { isGoing } from "./causes.ts";
import { isAlive, isStaticPool, POOL } from "./facts.ts";
import type { ClaimLife, History } from "./history.ts";
import type { Invariant, Sight } from "./invariant.ts";
import { isCapped } from "./out-of-limits.ts";

/** Sentences about static NodePools that have more or fewer machines than `replicas`. */
export const wrongReplicas = ({ now, pools, machines }: Sight): readonly string[] =>
  pools.filter(isStaticPool).flatMap((pool) => {
    const { metadata, spec } = pool;
    const own = machines.filter((m) => isAlive(m) && m.instance.tags[POOL] === metadata.name).length;
    const mayLack = isCapped(pool, { now, machines });
    if (own === spec.replicas || (mayLack && own < (spec.replicas ?? 0))) return [];
    return [`pool ${metadata.name} has ${own} machines, its replicas are ${spec.replicas}`];
  });

/** A NodeClaim may be made of a NodePool that was read this long before, ms: an outage may hold its intent up. */
const STALE_MS = UNTRIED_TIMEOUT_MS;

/** The NodeClaims of a NodePool that stay, without those that replace others. */
const staying = (pool: string, now: number, history: History): readonly ClaimLife[] =>
  [...history.claims.values()].filter((life) => life.pool === pool && !isGoing(life, now, history) && !history.isReplacement(life.name));

/** How long a decided end may take to be seen, ms: wake-ups may be lost again and again. */
const ENDED_WITHIN_MS = 20 * 60_000;

/** A call that the API server has refused (faults/injector.ts). */
const REFUSED = "fail refused";

const replicasOf = (pool: string, now: number, history: History, staleMs = STALE_MS): readonly number[] =>
  history.poolsWithin(pool, now - staleMs, now).flatMap(({ spec }) => (spec.replicas === undefined ? [] : [spec.replicas]));

/** Whether a static NodePool has, beside this NodeClaim, as many as it asks for. */
export function isSurplus({ pool, uid, machine, addedAt }: ClaimLife, now: number, history: History): boolean {
  const replicas = replicasOf(pool, now, history);
  // One with a cause to go may stay: broken nodes are not replaced while many are.
  const others = [...history.claims.values()].filter(
    (life) => life.pool === pool && life.uid !== uid && life.deletedAt === undefined && life.goneAt === undefined,
  );
  // The NodeClaim beside it may be planned and not made yet.
  const isUnlaunched = machine === undefined && wasLowered(history.poolsWithin(pool, addedAt, now));
  return replicas.length > 0 && (isUnlaunched || others.length >= Math.min(...replicas));
}

/** Whether a later edition of a NodePool asks for fewer than the first. */
const wasLowered = ([first, ...later]: readonly NodePool[]): boolean =>
  later.some(({ spec }) => (spec.replicas ?? 0) < (first?.spec.replicas ?? 0));

export const replicasKept: Invariant = {
  name: "replicas kept",
  law: "A static NodePool never has more NodeClaims that stay than its replicas, beside those that replace others.",
  watch: ({ lab, history, faults }, violated) => ({
    onChange: ({ kind, type, user, object }) => {
      if (kind !== "NodeClaim" || type !== "ADDED" || user !== PRODUCT) return;
      const pool = object.metadata.labels?.[POOL] ?? "";
      const now = lab.world.clock.now();
      const replicas = replicasOf(pool, now, history);
      // A node whose replacement is planned is tainted first, and one that is no longer replaced counts again.
      // An admission policy may keep one that was asked to go.
      const kept = new Set(faults.hits.flatMap(({ what, at, about }) => (what === REFUSED && now - at < ENDED_WITHIN_MS ? [about] : [])));
      const own = staying(pool, now, history).filter(
        ({ name, taintedAt, untaintedAt = 0 }) => taintedAt === undefined && untaintedAt < now - STALE_MS && !kept.has(name),
      );
      // While fewer were asked for, it may have been decided that others go, which the world sees only later.
      const others = own.filter(({ uid }) => uid !== object.metadata.uid);
      const fewest = Math.min(...replicasOf(pool, now, history, ENDED_WITHIN_MS));
      const outlived = others.filter(({ addedAt }) => wasLowered(history.poolsWithin(pool, addedAt, now)));
      const doomed = Math.min(outlived.length, Math.max(0, others.length - fewest));
      if (replicas.length > 0 && own.length - doomed > Math.max(...replicas))
        violated(`with ${object.metadata.name} static pool ${pool} has ${own.length} claims, its replicas are ${Math.max(...replicas)}`);
    },
  }),
};
