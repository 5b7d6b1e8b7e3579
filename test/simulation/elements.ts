import type { NodePool } from "#core/model/node-pool.ts";
import { PRODUCT } from "#lab/world/api-server.ts";
import { isSick } from "./invariants/causes.ts";
import { CLUSTER, GROUP, isOrdinary, isStaticPool, POOL } from "./invariants/facts.ts";
import type { ClaimLife } from "./invariants/history.ts";
import type { Scene } from "./invariants/invariant.ts";
import { NEIGHBOUR } from "./neighbour.ts";
import { SECOND } from "./second-cluster.ts";

/** Nodes of a cluster that is large for a simulation. */
const LARGE = 25;

/** Counts during a run what only some stacks have; the result is asked for at its end. */
export function elementsOf({ lab, history }: Scene): () => ReadonlyMap<string, number> {
  const statics = new Set<string>();
  const counts = new Map<string, number>();
  const add = (what: string, n = 1): void => {
    if (n > 0) counts.set(what, (counts.get(what) ?? 0) + n);
  };
  lab.world.onChange(({ kind, type, object }) => {
    if (kind === "NodePool" && isStaticPool(object as unknown as NodePool)) statics.add(object.metadata.name);
    if (type === "ADDED" && !isOrdinary(object))
      add(object.metadata.labels?.[POOL] !== undefined && kind === "Node" ? "twin nodes" : "odd objects");
    if ((kind === "NodeOverlay" || kind === "CapacityBuffer") && type === "ADDED") add(`${kind}s`);
  });
  const capacityOf = (life: ClaimLife | undefined): string | undefined => life?.machine?.instance.capacityType;
  let most = 0;
  lab.world.onChange(({ kind, type }) => {
    if (kind === "Node" && type === "ADDED") most = Math.max(most, lab.world.store.list("Node").length);
  });
  return () => {
    if (most >= LARGE) add(`clusters of ${LARGE} nodes and more`);
    const lives = [...history.claims.values()];
    add("repaired nodes", lives.filter((life) => life.deletedBy === PRODUCT && isSick(life, life.deletedAt ?? 0, history)).length);
    add("static machines", lab.cloud.machines().filter(({ instance }) => statics.has(instance.tags[POOL] ?? "")).length);
    add("machines in reservations", lab.cloud.machines().filter(({ instance }) => instance.reservationId !== undefined).length);
    const spotToSpot = lives.filter((life) => {
      const { replacements = [] } = history.replacing(life.name) ?? {};
      return capacityOf(life) === "spot" && replacements.some((name) => capacityOf(history.claimNamed(name)) === "spot");
    });
    if (lab.deps.settings.spotToSpotConsolidation) add("spot machines replaced by spot", spotToSpot.length);
    add("nodes with broken hardware", lives.filter(({ sick }) => sick !== undefined).length);
    add(
      "events of a silent cluster",
      [lab.wakeUps.provision, lab.wakeUps.claims, lab.wakeUps.interruption].reduce(
        (sum, { failures }) => sum + failures.filter(({ message }) => message.body.includes(NEIGHBOUR)).length,
        0,
      ),
    );
    add("machines that were launched together", lab.cloud.machines().filter(({ instance }) => instance.tags[GROUP] !== undefined).length);
    add("machines of a second cluster", lab.cloud.machines().filter(({ instance }) => instance.tags[CLUSTER] === SECOND).length);
    add(
      "batches of messages",
      [lab.wakeUps.claims, lab.wakeUps.disruption, lab.wakeUps.interruption].reduce((sum, { batches }) => sum + batches(), 0),
    );
    return counts;
  };
}
