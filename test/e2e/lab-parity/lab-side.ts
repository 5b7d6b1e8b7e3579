import { startCluster } from "#lab/world/cluster.ts";
import { createLabWorld } from "#lab/world/world.ts";
import type { Step } from "./cases.ts";
import { type Outcome, outcomeOf, type WatchedChange } from "./outcome.ts";

const START = Date.parse("2026-01-01T09:00:00Z");
/** Enough virtual time for all that follows from a step. The controllers act on the nodes before the first workload. */
const WAIT_SECONDS = { none: 1, short: 30, long: 300 };

/** Plays the steps in the lab's cluster, without the functions. */
export async function playInLab(steps: readonly Step[], seed: number): Promise<Outcome> {
  const world = createLabWorld({ seed, start: START });
  startCluster(world);
  const changes: WatchedChange[] = [];
  world.onChange(({ type, object }) => changes.push({ type, object }));
  for (const { verb, objects, wait } of steps) {
    for (const object of objects) {
      if (verb === "apply") world.apply(object);
      else world.delete(object.kind ?? "", object.metadata.name, object.metadata.namespace);
    }
    await world.clock.run({ until: world.clock.now() + (typeof wait === "number" ? wait : WAIT_SECONDS[wait]) * 1_000 });
  }
  return outcomeOf(changes);
}
