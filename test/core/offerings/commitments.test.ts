import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { commitmentsOf, type PaidReadings, paidReading, paidShares, withReading } from "#core/offerings/commitments.ts";
import { readSavingsPlans } from "#core/offerings/savings-plans.ts";
import type { OnDemandInstance, ReservedInstance } from "#core/ports/cloud-inventory.ts";

const PRICES = { "m5.large": 0.1, "m5.xlarge": 0.2, "c5.large": 0.08, "g5.xlarge": 1 };
const MINUTE = 60_000;

describe("Savings Plans as text", () => {
  it.for([
    { text: "none", want: [] },
    { text: "m5=3.60", want: [{ of: { kind: "family", family: "m5" }, perHour: 3.6 }] },
    { text: "*=10@20%", want: [{ of: { kind: "any" }, perHour: 12.5 }] },
    {
      text: " m5=1, *=2 ,m5=0.5@50%",
      want: [
        { of: { kind: "family", family: "m5" }, perHour: 2 },
        { of: { kind: "any" }, perHour: 2 },
      ],
    },
    {
      text: "u-6tb1=1,x2gd=0",
      want: [
        { of: { kind: "family", family: "u-6tb1" }, perHour: 1 },
        { of: { kind: "family", family: "x2gd" }, perHour: 0 },
      ],
    },
    ...["", "m5", "m5=", "m5=-1", "m5=1@100%", "m5=1@", "M5=1", "m5.large=1", "=1", "m5=1;c5=2", "m5=$1"].map((text) => ({
      text,
      want: undefined,
    })),
  ])("$text", ({ text, want }) => {
    expect(readSavingsPlans(text)).toEqual(want);
  });
});

const reserved = (more: Partial<ReservedInstance> = {}): ReservedInstance => ({
  ...{ instanceType: "m5.large", count: 2, platform: "Linux/UNIX", tenancy: "default" },
  ...more,
});

describe("what reserved instances pay for", () => {
  it.for([
    {
      name: "all sizes of the family, when they are regional",
      of: reserved(),
      want: [{ of: { kind: "family", family: "m5" }, perHour: 0.2 }],
    },
    {
      name: "one type in their zone, when they are zonal",
      of: reserved({ zone: "a" }),
      want: [{ of: { kind: "type", type: "m5.large", zone: "a" }, perHour: 0.2 }],
    },
    {
      name: "one type, in families without size flexibility",
      of: reserved({ instanceType: "g5.xlarge" }),
      want: [{ of: { kind: "type", type: "g5.xlarge" }, perHour: 2 }],
    },
    {
      name: "the same in a VPC",
      of: reserved({ platform: "Linux/UNIX (Amazon VPC)" }),
      want: [{ of: { kind: "family", family: "m5" }, perHour: 0.2 }],
    },
    { name: "no node, when they are for Windows", of: reserved({ platform: "Windows" }), want: [] },
    { name: "no node, when they are for dedicated hardware", of: reserved({ tenancy: "dedicated" }), want: [] },
    { name: "nothing, when the type has no known price", of: reserved({ instanceType: "q1.large" }), want: [] },
  ])("$name", ({ of, want }) => {
    expect(commitmentsOf([], [of], PRICES)).toEqual(want);
  });

  it("adds up with Savings Plans of the family, and the narrowest is used first", () => {
    const plans = readSavingsPlans("*=1,m5=0.3") ?? [];
    const sums = commitmentsOf(plans, [reserved(), reserved({ count: 1, zone: "a" })], PRICES).map(({ of, perHour }) => [of.kind, perHour]);
    expect(sums).toEqual([
      ["type", 0.1],
      ["family", 0.5],
      ["any", 1],
    ]);
  });
});

const instance = (id: string, launchedAt: number, cluster?: string, more: Partial<OnDemandInstance> = {}): OnDemandInstance => ({
  ...{ id, instanceType: "m5.large", zone: "a", launchedAt, isWindows: false, isDedicated: false },
  ...(cluster !== undefined && { cluster }),
  ...more,
});
const M5 = readSavingsPlans("m5=0.3") ?? [];

describe("what commitments pay for in an account", () => {
  it("is first the machines of no cluster, then the oldest, of whatever cluster", () => {
    const instances = [instance("i-4", 4, "b"), instance("i-3", 3, "a"), instance("i-2", 2, "b"), instance("i-9", 9)];
    expect(paidReading(M5, instances, PRICES)).toMatchObject([{ left: 0, byCluster: { a: 0.1, b: 0.1 } }]);
  });

  it("is no Windows, no dedicated hardware, no other family", () => {
    const others = [{ isWindows: true }, { isDedicated: true }, { instanceType: "c5.large" }, { instanceType: "q1.large" }];
    const instances = others.map((more, i) => instance(`i-${i}`, i, "a", more));
    expect(paidReading(M5, instances, PRICES)).toMatchObject([{ left: 0.3, byCluster: {} }]);
  });

  it("never counts more than the commitments, and clusters never count on the same machines twice", () => {
    const machine = fc.record({
      launchedAt: fc.nat(50),
      cluster: fc.option(fc.constantFrom("a", "b", "c"), { nil: undefined }),
      instanceType: fc.constantFrom(...Object.keys(PRICES)),
    });
    fc.assert(
      fc.property(
        fc.array(machine, { maxLength: 20 }),
        fc.integer({ min: 0, max: 20 }),
        fc.integer({ min: 0, max: 20 }),
        (machines, m5, any) => {
          const plans = readSavingsPlans(`m5=${m5 / 10},*=${any / 10}`) ?? [];
          const instances = machines.map(({ launchedAt, cluster, instanceType }, i) =>
            instance(`i-${i}`, launchedAt, cluster, { instanceType }),
          );
          for (const { perHour, left, byCluster } of paidReading(commitmentsOf(plans, [], PRICES), instances, PRICES)) {
            const used = Object.values(byCluster).reduce((sum, amount) => sum + amount, 0);
            expect(left).toBeGreaterThanOrEqual(0);
            expect(used + left).toBeLessThanOrEqual(perHour + 1e-6);
          }
        },
      ),
    );
  });
});

describe("what a cluster counts on", () => {
  const at = (minute: number, left: number, byCluster: Readonly<Record<string, number>> = {}): PaidReadings => ({
    at: minute * MINUTE,
    shares: [{ of: { kind: "family", family: "m5" }, perHour: 1, left, byCluster }],
  });
  const amounts = (readings: readonly PaidReadings[], minute: number, isForPods: boolean, cluster = "a") =>
    paidShares(readings, cluster, minute * MINUTE, isForPods).map(({ perHour, keeps }) => [perHour, keeps]);

  it("is what its machines use and what is left, now for pods that wait, in the last hour for those that run", () => {
    const readings = [at(0, 0.9), at(5, 0.1, { a: 0.3, b: 0.6 }), at(10, 0.5, { a: 0.3 })];
    expect(amounts(readings, 11, true)).toEqual([[0.8, 0.9]]);
    expect(amounts(readings, 11, false)).toEqual([[0.4, 0.9]]);
    expect(amounts(readings, 11, false, "b")).toEqual([[0.1, 0.9]].map(([, keeps]) => [0.5, keeps]));
  });

  it("does not change while its own machines come and go", () => {
    const readings = [at(0, 0.9), at(5, 0.6, { a: 0.3 }), at(10, 0.8, { a: 0.1 })];
    expect(amounts(readings, 10, false)).toEqual([[expect.closeTo(0.9), expect.closeTo(0.9)]]);
  });

  it("is kept for an hour when a commitment ends, and is nothing for new machines", () => {
    const readings = [at(0, 0.9), { at: 5 * MINUTE, shares: [] }];
    expect([amounts(readings, 6, true), amounts(readings, 6, false)]).toEqual([[[0, 0.9]], [[0, 0.9]]]);
    expect(amounts(withReading(readings, { at: 65 * MINUTE, shares: [] }), 65, true)).toEqual([]);
  });

  it("is nothing when the account has not been read for six hours", () => {
    expect(amounts([at(0, 0.9)], 360, true)).toEqual([[0.9, 0.9]]);
    expect(amounts([at(0, 0.9)], 361, true)).toEqual([]);
  });

  it("is remembered for the last hour alone", () => {
    const readings = [0, 5, 30, 60].reduce<readonly PaidReadings[]>((known, minute) => withReading(known, at(minute, 1)), []);
    expect(withReading(readings, at(65, 1)).map((reading) => reading.at / MINUTE)).toEqual([5, 30, 60, 65]);
  });
});
