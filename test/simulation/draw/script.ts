import { hash, seeded } from "#lab/world/random.ts";
import type { Script } from "../script.ts";
import { drawActs } from "./acts.ts";
import { drawFaults, drawTableFaults, drawTrials } from "./faults.ts";
import { drawFeatures } from "./features.ts";
import { chance, drawWorld } from "./world.ts";

/** Strikes per hour: some runs have none, so that the effects of the acts show without faults. */
const STRIKES_PER_HOUR: readonly [number, ...number[]] = [0, 10, 30, 60, 120];

/** The script of a seed; equal seeds give equal scripts on every machine. */
export function drawScript(seed: number, minutes: number): Script {
  // Adjacent seeds must not give similar scripts.
  const spread = hash(`seed ${seed}`);
  const random = seeded(spread).fork("script");
  const world = drawWorld(random.fork("world"));
  const acts = drawActs(world, minutes, random.fork("acts"));
  const faults = drawFaults(acts, minutes, random.pick(STRIKES_PER_HOUR), random.fork("faults"));
  const trials = drawTrials(minutes, random.fork("trials"));
  const table = drawTableFaults(minutes, random.fork("table"));
  const special = drawFeatures(world, minutes, random.fork("features"));
  return {
    seed,
    chance: spread,
    minutes,
    sources: random.pick<Script["sources"]>([["notify"], ["notify"], ["audit"], ["audit", "notify"], []]),
    interleaved: chance(random, 0.4),
    cloudLagMs: random.pick([0, 0, 3_000, 15_000]),
    objects: special.objects,
    features: special.features,
    events: [...acts, ...faults, ...trials, ...table, ...special.events].sort((a, b) => a.at - b.at),
  };
}
