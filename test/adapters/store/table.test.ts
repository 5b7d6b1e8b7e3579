import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { embeddedNodeClaimStore } from "#adapters/store/embedded-store.ts";
import { metricSums } from "#adapters/store/metric-sums.ts";
import { nodeClaimStore } from "#adapters/store/node-claim-store.ts";
import { embeddedTable } from "#adapters/store/table-embedded.ts";
import { tableRequests } from "#adapters/store/table-requests.ts";
import { ConflictError, ThrottledError } from "#core/ports/errors.ts";
import { metricSumsContract } from "../../contracts/metric-sums/contract.ts";
import { nodeClaimStoreContract, record } from "../../contracts/node-claim-store/contract.ts";
import { tableContract } from "../../contracts/node-claim-store/table-contract.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const noSleep = async (): Promise<void> => {};
const closable = (table: ReturnType<typeof embeddedTable>) => ({ store: table, close: async () => table.close() });
const inFile = () => embeddedTable({ path: join(temporaryFolder("table"), "table.sqlite") });

describe("the contract of Table", () => {
  for (const { name, run } of tableContract("in memory", async () => closable(embeddedTable()))) it(name, run);
  for (const { name, run } of tableContract("in a file", async () => closable(inFile()))) it(name, run);
});

describe("the contract of MetricSums", () => {
  for (const { name, run } of metricSumsContract(async () => metricSums(embeddedTable()))) it(`embedded: ${name}`, run);
});

/** A table that leaves work over, conflicts and pages at every second request. */
describe("the contract of NodeClaimStore on a table that answers as DynamoDB may", () => {
  const open = async () => {
    let asked = 0;
    const everySecond = (): boolean => asked++ % 2 === 0;
    const faults = { isConflicting: everySecond, isUnprocessed: everySecond, pageBytes: () => 3_000 };
    const store = embeddedNodeClaimStore({ faults, sleep: noSleep });
    return { store, close: async () => store.close() };
  };
  // Bytes in such numbers only take time here.
  const cases = nodeClaimStoreContract("faults", open).filter(({ name }) => !/megabytes|long list|more bytes|race: readers/.test(name));
  for (const { name, run } of cases) it(name, run);
});

describe("faults of the embedded table", () => {
  it("a partition read that need not be consistent is as old as it may be, and others are not", async () => {
    let [now, ms] = [1_000, 0];
    const table = embeddedTable({ now: () => now, faults: { staleMs: () => ms } });
    const read = async (isConsistent: boolean) =>
      (await table.query({ pk: "p", prefix: "k", isConsistent })).items.map(({ sk, n }) => `${sk}=${n}`);
    await table.write({ put: { pk: "p", sk: "k1", n: 1 } });
    now += 100;
    await table.write({ put: { pk: "p", sk: "k1", n: 2 } });
    await table.write({ put: { pk: "p", sk: "k2", n: 2 } });
    now += 100;
    await table.write({ delete: { pk: "p", sk: "k1" } });
    ms = 50;
    expect([await read(false), await read(true)]).toEqual([["k1=2", "k2=2"], ["k2=2"]]);
    ms = 150;
    expect(await read(false)).toEqual(["k1=1"]);
    ms = 300;
    expect(await read(false)).toEqual([]);
    now += 1_000;
    expect(await read(false)).toEqual(["k2=2"]);
  });

  it("an index that lags finds neither what is new nor that the old is gone", async () => {
    let now = 1_000;
    const onLateIndex = vi.fn();
    const store = embeddedNodeClaimStore({ now: () => now, faults: { indexLagMs: () => 500, onLateIndex } });
    const instance = { id: "i-1", instanceType: "m5.large", zone: "z", capacityType: "spot", imageId: "ami-1" } as const;
    const made = await store.create(record("a"));
    const launched = await store.update({ ...made, instance });
    expect(await store.byInstance("i-1")).toBeUndefined();
    expect(onLateIndex).toHaveBeenCalledTimes(1);
    now += 600;
    expect(await store.byInstance("i-1")).toEqual(launched);
    expect(onLateIndex).toHaveBeenCalledTimes(1);
    await store.remove(launched);
    expect(await store.byInstance("i-1")).toEqual(launched);
    now += 600;
    expect(await store.byInstance("i-1")).toBeUndefined();
  });

  it("conflicts that do not end are a ConflictError, and reads do not meet them", async () => {
    const waits: number[] = [];
    const table = embeddedTable({ faults: { isConflicting: () => true } });
    const store = nodeClaimStore(table, { sleep: async (ms) => void waits.push(ms) });
    await expect(store.create(record("a"))).rejects.toThrow(ConflictError);
    expect(waits).toEqual([50, 100, 200, 400, 800]);
    expect(await store.get("c1", "a")).toBeUndefined();
  });

  it("a batch of which nothing is ever done ends, as does a table that throttles", async () => {
    const busy = tableRequests(embeddedTable({ faults: { isUnprocessed: () => true } }), noSleep);
    await expect(busy.writeAll([{ put: { pk: "p", sk: "s" } }])).rejects.toThrow(ThrottledError);
    await expect(busy.getAll([{ pk: "p", sk: "s" }])).rejects.toThrow("left 1 reads unprocessed");
    const throttled = embeddedNodeClaimStore({ faults: { isThrottled: () => true } });
    await expect(throttled.list("c1")).rejects.toThrow(ThrottledError);
  });

  it("what has expired by TTL is removed within the hour, in memory and in a file", async () => {
    for (const path of [undefined, join(temporaryFolder("ttl"), "table.sqlite")]) {
      let now = 0;
      const table = embeddedTable({ now: () => now, ...(path !== undefined && { path }) });
      await table.write({ put: { pk: "p", sk: "a", ttl: 10 } });
      await table.write({ put: { pk: "p", sk: "b", ttl: 100_000 } });
      now = 3_600_000;
      await table.write({ put: { pk: "p", sk: "c" } });
      expect((await table.query({ pk: "p", isConsistent: true })).items.map(({ sk }) => sk)).toEqual(["b", "c"]);
      table.close();
    }
  });
});
