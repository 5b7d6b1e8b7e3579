import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import { PRODUCT } from "#lab/world/api-server.ts";
import type { SimulatedInstance } from "#lab/world/simulated-instance.ts";
import { isGoing } from "./causes.ts";
import { capOf, GROUP, isAlive, POOL, sleepsWithin } from "./facts.ts";
import type { Invariant } from "./invariant.ts";

/**
 * A NodeClaim planned under older limits, or beside a node that was tainted then, may be launched this much later, ms:
 * batching window, retries, launch timeout.
 */
const STALE_MS = 8 * 60_000;

/** Prices are counted in millionths. */
const ROUNDING = 1e-5;

export const limitsKept: Invariant = {
  name: "limits kept",
  law: "A pool's machines, without those that are going or whose nodes are tainted to be replaced, never add up to more than its limits and its price cap.",
  watch: ({ lab, history }, violated) => {
    // A spot price may have risen since the plan, so that spot machines count nothing towards a price cap.
    const dollars = ({ instance, price }: SimulatedInstance): number => (instance.capacityType === "on-demand" ? price : 0);
    const measure = (machine: SimulatedInstance, name: string): number =>
      name === "cpu" ? machine.type.cpu : name === "nodes" ? 1 : dollars(machine);
    const limitOf = (pool: NodePool, name: string): number =>
      name === "dollars" ? capOf(pool) + ROUNDING : Number(pool.spec.limits?.[name] ?? Number.POSITIVE_INFINITY);
    let overlaid = false;
    return {
      onChange: ({ kind }) => {
        overlaid ||= kind === "NodeOverlay";
      },
      onLaunch: (machine) => {
        const name = machine.instance.tags[POOL] ?? "";
        if (name === "") return; // A NodeClaim without a NodePool has no limit.
        const now = lab.world.clock.now();
        const members = history.membersOf(machine.instance.tags[GROUP]).map(({ plannedAt }) => plannedAt);
        const planned = history.claims.get(history.uidOf(machine.instance))?.plannedAt ?? Math.min(now, ...members);
        const from = Math.max(planned - history.skewMs, now - STALE_MS);
        const isStaying = ({ instance }: SimulatedInstance): boolean => {
          const life = history.claims.get(history.uidOf(instance));
          // Those of one call come at the same moment.
          if (life === undefined) return instance.tags[GROUP] !== undefined && instance.launchedAt === now;
          const wasTainted = life.taintedAt !== undefined || (life.untaintedAt ?? 0) >= from - STALE_MS;
          return !isGoing(life, now, history) && !wasTainted;
        };
        const staying = lab.cloud
          .machines()
          .filter((m) => isAlive(m) && m.instance.tags[POOL] === name && (m.instance.id === machine.instance.id || isStaying(m)));
        const pools = history.poolsWithin(name, from - STALE_MS, now);
        for (const resource of ["cpu", "nodes", "dollars"]) {
          // A NodeOverlay may lower what machines count.
          if (resource === "dollars" && overlaid) continue;
          const allowed = Math.max(...pools.map((pool) => limitOf(pool, resource)));
          const used = staying.reduce((sum, m) => sum + measure(m, resource), 0);
          if (used > allowed) violated(`with ${machine.instance.id} pool ${name} has ${resource} ${used}, its limit is ${allowed}`);
        }
      },
    };
  },
};

/** A plan may be made from a NodePool that was awake this long before, ms. */
const FALLEN_ASLEEP_MS = 3 * 60_000;

export const sleepersLeftAlone: Invariant = {
  name: "sleeping NodePools make no nodes",
  law: "No NodeClaim is planned for a NodePool that has slept for some minutes, unless it is static.",
  watch: ({ history, lab }, violated) => ({
    onChange: ({ kind, type, user, object }) => {
      if (kind !== "NodeClaim" || type !== "ADDED" || user !== PRODUCT) return;
      const { metadata } = object as unknown as NodeClaim;
      const pool = metadata.labels?.[POOL] ?? "";
      const now = lab.world.clock.now();
      const planned = history.claims.get(metadata.uid ?? "")?.plannedAt ?? now;
      const from = planned - FALLEN_ASLEEP_MS - history.skewMs;
      const editions = history.poolsWithin(pool, from, planned);
      const moments = [from, planned - (planned - from) / 2, planned + history.skewMs];
      const isAsleep = editions.length > 0 && editions.every((one) => moments.every((at) => sleepsWithin(one, at, at)));
      if (isAsleep) violated(`claim ${metadata.name} was planned for pool ${pool}, which sleeps`);
    },
  }),
};
