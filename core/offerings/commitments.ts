import { familyOf, inOrderOfUse, type PaidFor, type PaidShare, paidKey, paysFor } from "../model/paid-capacity.ts";
import { micros } from "../model/prices.ts";
import type { OnDemandInstance, ReservedInstance } from "../ports/cloud-inventory.ts";
import type { SavingsPlan } from "./savings-plans.ts";

/** A machine that commitments may pay for. */
export interface Payable {
  readonly type: string;
  /** Undefined while EC2 may choose: then any zone of a commitment will do. */
  readonly zone: string | undefined;
  /** Millionths of a dollar an hour, on demand. */
  readonly price: number;
}

/**
 * Counts commitments against machines: in the order in which AWS applies commitments, and in the order of the machines.
 * A machine is paid for as a whole or not at all, and what is left and does not do for it goes to the next; AWS pays
 * for a part.
 * @param amounts commitments in the order of their use, in millionths of a dollar an hour
 * @returns what is left of each commitment, and by machine the index of the commitment that pays for it, or -1
 */
export function countPaid(
  amounts: readonly { readonly of: PaidFor; readonly amount: number }[],
  machines: readonly Payable[],
): { readonly left: readonly number[]; readonly by: readonly number[] } {
  const left = amounts.map(({ amount }) => amount);
  const by = machines.map(({ type, zone, price }) => {
    const at = amounts.findIndex(({ of }, i) => {
      const inZone = zone ?? (of.kind === "type" ? (of.zone ?? "") : "");
      return (left[i] ?? 0) >= price && paysFor(of, type, inZone);
    });
    if (at >= 0) left[at] = (left[at] ?? 0) - price;
    return at;
  });
  return { left, by };
}

/**
 * Families whose regional reserved instances pay for one size only (Amazon EC2 User Guide, "How Reserved Instance
 * discounts are applied").
 */
const ONE_SIZE: ReadonlySet<string> = new Set(
  "g4ad g4dn g5 g5g g6 g6e g6f gr6 gr6f hpc7a inf1 inf2 p5 u7i-6tb u7i-8tb u7i-12tb u7in-16tb u7in-24tb u7in-32tb u7inh-32tb".split(" "),
);

/**
 * What reserved instances pay for, USD per hour at on-demand prices. Those of other systems and tenancies pay for no
 * node.
 */
function ofReserved(reserved: readonly ReservedInstance[], prices: Readonly<Record<string, number>>): readonly SavingsPlan[] {
  return reserved.flatMap(({ instanceType: type, count, zone, platform, tenancy }): readonly SavingsPlan[] => {
    const price = prices[type] ?? 0;
    if (price <= 0 || tenancy !== "default" || !platform.startsWith("Linux/UNIX")) return [];
    const family = familyOf(type);
    const of: PaidFor =
      zone !== undefined ? { kind: "type", type, zone } : ONE_SIZE.has(family) ? { kind: "type", type } : { kind: "family", family };
    return [{ of, perHour: count * price }];
  });
}

/** All commitments of an account, those for the same added up, in the order of their use. */
export function commitmentsOf(
  plans: readonly SavingsPlan[],
  reserved: readonly ReservedInstance[],
  prices: Readonly<Record<string, number>>,
): readonly SavingsPlan[] {
  const byKey = new Map<string, SavingsPlan>();
  for (const { of, perHour } of [...plans, ...ofReserved(reserved, prices)]) {
    const key = paidKey(of);
    byKey.set(key, { of, perHour: (byKey.get(key)?.perHour ?? 0) + perHour });
  }
  return inOrderOfUse([...byKey.values()]);
}

/** What one commitment paid for when the account was read, USD per hour at on-demand prices. */
interface PaidReading extends SavingsPlan {
  /** What no machine uses. */
  readonly left: number;
  /** By cluster, what its machines use. */
  readonly byCluster: Readonly<Record<string, number>>;
}

/** What the commitments of an account pay for at one time. */
export interface PaidReadings {
  /** ms since the epoch. */
  readonly at: number;
  readonly shares: readonly PaidReading[];
}

/**
 * What commitments pay for: first for machines that no cluster's autoscaler can move, then for the oldest, so that a
 * new machine takes nothing from one that runs, in whatever cluster.
 */
export function paidReading(
  commitments: readonly SavingsPlan[],
  instances: readonly OnDemandInstance[],
  prices: Readonly<Record<string, number>>,
): readonly PaidReading[] {
  const machines = instances
    .flatMap((instance) => {
      const price = micros(prices[instance.instanceType] ?? 0);
      return price > 0 && !instance.isWindows && !instance.isDedicated ? [{ ...instance, type: instance.instanceType, price }] : [];
    })
    .sort(
      (a, b) => Number(a.cluster !== undefined) - Number(b.cluster !== undefined) || a.launchedAt - b.launchedAt || (a.id < b.id ? -1 : 1),
    );
  const { left, by } = countPaid(
    commitments.map(({ of, perHour }) => ({ of, amount: micros(perHour) })),
    machines,
  );
  return commitments.map(({ of, perHour }, i) => {
    const used = new Map<string, number>();
    machines.forEach(({ cluster, price }, m) => {
      if (cluster !== undefined && by[m] === i) used.set(cluster, (used.get(cluster) ?? 0) + price);
    });
    return {
      of,
      perHour,
      left: (left[i] ?? 0) / 1e6,
      byCluster: Object.fromEntries([...used].map(([name, amount]) => [name, amount / 1e6])),
    };
  });
}

/** Readings of this time count: AWS bills by the hour, and what is used for minutes only moves no pods. */
const WINDOW_MS = 60 * 60_000;
/** After this time without a reading nothing is counted as paid for, ms. */
const MAX_AGE_MS = 6 * 60 * 60_000;

/** The readings with a new one, the latest last; of the last hour. */
export function withReading(readings: readonly PaidReadings[], latest: PaidReadings): readonly PaidReadings[] {
  return [...readings.filter(({ at }) => latest.at - WINDOW_MS <= at && at < latest.at), latest];
}

/**
 * What a cluster may count on: what its own machines use of each commitment, and what no machine uses. Pods that wait
 * may use what the latest reading leaves; pods that run move only to what was left for the last hour, and from a
 * machine only when it was not paid for in the last hour.
 * @param now ms since the epoch
 */
export function paidShares(readings: readonly PaidReadings[], cluster: string, now: number, isForPods: boolean): readonly PaidShare[] {
  const latest = readings.at(-1);
  if (latest === undefined || now - latest.at > MAX_AGE_MS) return [];
  const within = readings.filter(({ at }) => now - at <= WINDOW_MS || at === latest.at);
  const amountOf = ({ left, byCluster }: PaidReading): number => left + (new Map(Object.entries(byCluster)).get(cluster) ?? 0);
  const byTime = within.map(({ shares }) => new Map(shares.map((share) => [paidKey(share.of), amountOf(share)])));
  // A commitment that has ended, or that the account did not show for a moment, was there within the hour.
  const all = new Map(within.flatMap(({ shares }) => shares.map(({ of }) => [paidKey(of), of] as const)));
  return [...all].map(([key, of]) => {
    const amounts = byTime.map((shares) => shares.get(key) ?? 0);
    return { of, perHour: isForPods ? (amounts.at(-1) ?? 0) : Math.min(...amounts), keeps: Math.max(...amounts) };
  });
}
