import type { SimulatedInstance } from "./simulated-instance.ts";

/** What one instance has cost. */
export interface CostLine {
  readonly instanceId: string;
  readonly instanceType: string;
  readonly capacityType: string;
  readonly zone: string;
  /** USD per hour, its last price. */
  readonly price: number;
  readonly seconds: number;
  readonly usd: number;
}

/** USD that an instance has cost up to now (ms since the epoch), or to its end. */
export function spentOn(
  { instance, price, endedAt, paid = { usd: 0, until: instance.launchedAt } }: SimulatedInstance,
  now: number,
): number {
  return paid.usd + (price * Math.floor(((endedAt ?? now) - paid.until) / 1000)) / 3600;
}

/** What the instances cost. */
export interface Meter {
  /** USD since the start. */
  cost(): number;
  /** USD per hour of everything that runs now. */
  pricePerHour(): number;
  costs(): readonly CostLine[];
}

/** Counts each instance by the second, from its launch until it is terminated; storage and traffic are not counted. */
export function meter(clock: { now(): number }, instances: () => readonly SimulatedInstance[]): Meter {
  const line = (simulated: SimulatedInstance): CostLine => {
    const { instance, price, endedAt } = simulated;
    const seconds = Math.floor(((endedAt ?? clock.now()) - instance.launchedAt) / 1000);
    const { id: instanceId, instanceType, capacityType, zone } = instance;
    return { instanceId, instanceType, capacityType, zone, price, seconds, usd: spentOn(simulated, clock.now()) };
  };
  return {
    cost: () => instances().reduce((sum, one) => sum + line(one).usd, 0),
    pricePerHour: () => instances().reduce((sum, { endedAt, price }) => sum + (endedAt === undefined ? price : 0), 0),
    costs: () => instances().map(line),
  };
}
