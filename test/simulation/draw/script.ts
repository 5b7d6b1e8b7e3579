import { hash, seeded } from "#lab/world/random.ts";
import { isFault, type Script } from "../script.ts";
import { drawActs } from "./acts.ts";
import { drawFaults, drawTableFaults, drawTrials } from "./faults.ts";
import { drawFeatures } from "./features.ts";
import { chance, drawWorld } from "./world.ts";

/** Strikes per hour: some runs have none, so that the effects of the acts show without faults. */
const STRIKES_PER_HOUR: readonly [number, ...number[]] = [0, 10, 30, 60, 120];

/** What --world takes: AWS's times without faults ("aws") or with them ("faulty"), or fast times with them ("fast"). */
export const WORLDS = ["aws", "fast", "faulty"] as const;
export type World = (typeof WORLDS)[number];
export const DEFAULT_WORLD: World = "faulty";

/**
 * The script of a seed; equal seeds give equal scripts on every machine. Under AWS's times EC2 always keeps its buckets
 * of requests, and SQS hands over several messages at once.
 */
export function drawScript(seed: number, minutes: number, world: World = DEFAULT_WORLD): Script {
  // Adjacent seeds must not give similar scripts.
  const spread = hash(`seed ${seed}`);
  const random = seeded(spread).fork("script");
  const drawn = drawWorld(random.fork("world"));
  const acts = drawActs(drawn, minutes, random.fork("acts"));
  const faults = drawFaults(acts, minutes, random.pick(STRIKES_PER_HOUR), random.fork("faults"));
  const trials = drawTrials(minutes, random.fork("trials"));
  const table = drawTableFaults(minutes, random.fork("table"));
  const special = drawFeatures(drawn, minutes, random.fork("features"));
  const isFast = world === "fast";
  const events = [...acts, ...faults, ...trials, ...table, ...special.events].sort((a, b) => a.at - b.at);
  return {
    seed,
    chance: spread,
    minutes,
    sources: random.pick<Script["sources"]>([["notify"], ["notify"], ["audit"], ["audit", "notify"], []]),
    interleaved: chance(random, 0.4),
    world: isFast ? "fast" : "aws",
    cloudLagMs: isFast ? random.pick([0, 0, 3_000, 15_000]) : 0,
    objects: special.objects,
    features: isFast ? special.features : { ...special.features, batches: true, buckets: true },
    events: world === "aws" ? events.filter((event) => !isFault(event)) : events,
  };
}
