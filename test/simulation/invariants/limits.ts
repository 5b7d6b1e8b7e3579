import type { NodePool } from "../../../core/model/node-pool.ts";
import type { SimulatedInstance } from "../../../lab/world/simulated-instance.ts";
import { CLAIM_NAME, CLAIM_UID, isAlive, POOL } from "./facts.ts";
import type { Invariant } from "./invariant.ts";

/**
 * A NodeClaim planned under older limits may be launched this much later, ms: batching window, retries, launch timeout.
 */
const STALE_MS = 8 * 60_000;

export const limitsKept: Invariant = {
  name: "limits kept",
  law: "A pool's machines, without those that are going or being replaced, never add up to more than its limits.",
  watch: ({ lab, table }, violated) => {
    const limits: { readonly at: number; readonly pool: NodePool }[] = [];
    const measure = ({ type }: SimulatedInstance, name: string): number => (name === "cpu" ? type.cpu : name === "nodes" ? 1 : 0);
    return {
      onChange: ({ kind, old, object }) => {
        if (kind === "NodePool") limits.push({ at: lab.world.clock.now(), pool: (old ?? object) as unknown as NodePool });
      },
      onLaunch: (machine) => {
        const name = machine.instance.tags[POOL] ?? "";
        if (name === "") return; // A NodeClaim without a NodePool has no limit.
        const now = lab.world.clock.now();
        const current = lab.world.store.get("NodePool", name) as unknown as NodePool | undefined;
        const recent = [
          ...limits.filter(({ at, pool }) => pool.metadata.name === name && now - at < STALE_MS).map(({ pool }) => pool),
          ...(current ? [current] : []),
        ];
        const machines = lab.cloud.machines().filter((m) => isAlive(m) && m.instance.tags[POOL] === name);
        void Promise.all([table.list(lab.world.cluster), table.commands(lab.world.cluster)]).then(([records, commands]) => {
          const leaving = new Set([
            ...records.flatMap((r) => (r.terminating ? [r.name] : [])),
            ...commands.flatMap(({ candidates }) => candidates.map(({ nodeClaim }) => nodeClaim)),
          ]);
          const going = new Set(
            lab.world.store.list("NodeClaim").flatMap(({ metadata }) => (metadata.deletionTimestamp ? [metadata.uid] : [])),
          );
          const staying = machines.filter(
            ({ instance: { id, tags } }) =>
              id === machine.instance.id ||
              (!leaving.has(tags[CLAIM_NAME] ?? "") && !going.has(tags[CLAIM_UID]) && records.some((r) => r.instance?.id === id)),
          );
          for (const resource of ["cpu", "nodes"]) {
            const allowed = Math.max(...recent.map((pool) => Number(pool.spec.limits?.[resource] ?? Number.POSITIVE_INFINITY)));
            const used = staying.reduce((sum, m) => sum + measure(m, resource), 0);
            if (used > allowed) violated(`with ${machine.instance.id} pool ${name} has ${resource} ${used}, its limit is ${allowed}`);
          }
        });
      },
    };
  },
};
