import type { Catalogue } from "#core/offerings/catalogue.ts";
import type { Random } from "#lab/world/random.ts";

type Spot = NonNullable<Catalogue["spot"]>;

/**
 * Standard deviation of an hour's change, and the pull towards the first price: prices stay within about a fifth of it.
 */
const HOURLY_DEVIATION = 0.05;
const MEAN_REVERSION_PER_HOUR = 0.05;
/** Probability per hour that the capacity of an offering changes, and the largest jump of its price then. */
const JUMPS_PER_HOUR = 1 / 100;
const MAX_LOG_JUMP = 0.5;
/** AWS caps spot at the on-demand price. */
const MAX_SHARE_OF_ON_DEMAND = 0.95;

/** A Gaussian sample by the central limit theorem: the sum of twelve uniform draws. */
const gauss = (random: Random): number => Array.from({ length: 12 }, () => random.next()).reduce((sum, x) => sum + x, -6);

/** The spot prices of each hour: a random walk that reverts to the first price. */
export function spotWalk({ spot = {}, onDemand, types }: Catalogue, hours: number, random: Random): readonly Spot[] {
  const logs = new Map<string, number>();
  const walk: Spot[] = [];
  for (let hour = 1; hour <= hours; hour++) {
    const prices: Record<string, Record<string, number>> = {};
    for (const { name } of types) {
      const zones: Record<string, number> = {};
      for (const [zone, start] of Object.entries(spot[name] ?? {})) {
        const key = `${name} ${zone}`;
        const before = logs.get(key) ?? 0;
        const jump = random.next() < JUMPS_PER_HOUR ? MAX_LOG_JUMP * (2 * random.next() - 1) : 0;
        const log = before * (1 - MEAN_REVERSION_PER_HOUR) + HOURLY_DEVIATION * gauss(random) + jump;
        logs.set(key, log);
        zones[zone] = Number(Math.min(start * Math.exp(log), MAX_SHARE_OF_ON_DEMAND * (onDemand[name] ?? start)).toFixed(6));
      }
      prices[name] = zones;
    }
    walk.push(prices);
  }
  return walk;
}
