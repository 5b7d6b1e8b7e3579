import type { Catalogue } from "../../../core/offerings/catalogue.ts";
import type { Random } from "../../../lab/world/random.ts";

type Spot = NonNullable<Catalogue["spot"]>;

/** Standard deviation of an hour's change, and the pull back to where the price began: a week's prices then lie within about a fifth of it. */
const HOURLY = 0.05;
const PULL = 0.05;
/** A pool of machines runs short, or empties, this often; its price then jumps by up to so much. */
const JUMP_CHANCE = 1 / 100;
const JUMP = 0.5;
/** AWS caps spot at the on-demand price. */
const CAP = 0.95;

/** Gaussian by the central limit: twelve uniform draws. */
const gauss = (random: Random): number => Array.from({ length: 12 }, () => random.next()).reduce((sum, x) => sum + x, -6);

/** The spot prices of each hour, as a walk that is drawn back to where it began. */
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
        const jump = random.next() < JUMP_CHANCE ? JUMP * (2 * random.next() - 1) : 0;
        const log = before * (1 - PULL) + HOURLY * gauss(random) + jump;
        logs.set(key, log);
        zones[zone] = Number(Math.min(start * Math.exp(log), CAP * (onDemand[name] ?? start)).toFixed(6));
      }
      prices[name] = zones;
    }
    walk.push(prices);
  }
  return walk;
}
