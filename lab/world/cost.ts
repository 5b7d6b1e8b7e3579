import type { Machine } from "./cloud.ts";

export interface CostLine {
  readonly instanceId: string;
  readonly instanceType: string;
  readonly capacityType: string;
  readonly zone: string;
  /** USD per hour, at the last. */
  readonly price: number;
  readonly seconds: number;
  readonly usd: number;
}

/** USD that a machine has cost up to now (ms), or to its end. */
export function spentOn({ instance, price, endedAt, paid = { usd: 0, until: instance.launchedAt } }: Machine, now: number): number {
  return paid.usd + (price * Math.floor(((endedAt ?? now) - paid.until) / 1000)) / 3600;
}

/** Counts each instance by the second, from its launch until it is told to end; storage and traffic are left out. */
export function meter(
  clock: { now(): number },
  machines: () => readonly Machine[],
): { cost(): number; pricePerHour(): number; costs(): readonly CostLine[] } {
  const line = (machine: Machine): CostLine => {
    const { instance, price, endedAt } = machine;
    const seconds = Math.floor(((endedAt ?? clock.now()) - instance.launchedAt) / 1000);
    const { id: instanceId, instanceType, capacityType, zone } = instance;
    return { instanceId, instanceType, capacityType, zone, price, seconds, usd: spentOn(machine, clock.now()) };
  };
  return {
    cost: () => machines().reduce((sum, m) => sum + line(m).usd, 0),
    pricePerHour: () => machines().reduce((sum, m) => sum + (m.endedAt === undefined ? m.price : 0), 0),
    costs: () => machines().map(line),
  };
}
