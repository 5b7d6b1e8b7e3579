import type { SimulatedInstance } from "../../../lab/world/simulated-instance.ts";
import { isGoing } from "./causes.ts";
import { GROUP, isAlive, POOL } from "./facts.ts";
import type { Invariant } from "./invariant.ts";

/**
 * A NodeClaim planned under older limits, or beside a node that was tainted then, may be launched this much later, ms:
 * batching window, retries, launch timeout.
 */
const STALE_MS = 8 * 60_000;

export const limitsKept: Invariant = {
  name: "limits kept",
  law: "A pool's machines, without those that are going or whose nodes are tainted to be replaced, never add up to more than its limits.",
  watch: ({ lab, history }, violated) => {
    const measure = ({ type }: SimulatedInstance, name: string): number => (name === "cpu" ? type.cpu : name === "nodes" ? 1 : 0);
    return {
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
        for (const resource of ["cpu", "nodes"]) {
          const allowed = Math.max(...pools.map((pool) => Number(pool.spec.limits?.[resource] ?? Number.POSITIVE_INFINITY)));
          const used = staying.reduce((sum, m) => sum + measure(m, resource), 0);
          if (used > allowed) violated(`with ${machine.instance.id} pool ${name} has ${resource} ${used}, its limit is ${allowed}`);
        }
      },
    };
  },
};
