import { describe, expect, it } from "vitest";
import type { ClusterRecord } from "#core/model/cluster-record.ts";
import { isServedBy, servedClusters } from "#functions/wiring/served-clusters.ts";
import { recordingLog } from "../../support/fakes.ts";

const ROLES = { lifecycle: "arn:aws:iam::111122223333:role/x/lifecycle/a", catalog: "arn:aws:iam::111122223333:role/x/catalog/a" };
const record = (name: string, more: Partial<ClusterRecord> = {}): ClusterRecord => ({
  ...{ name, state: "served", version: 1, sources: ["sweep"], roles: ROLES },
  ...more,
});

/** The clusters of a process of a function; the table has `table.records`, or fails with `table.error`. */
function process(variable = ["a"]) {
  const table: { records: ClusterRecord[]; unreadable: string[]; error: Error | undefined; reads: number } = {
    ...{ records: [], unreadable: [], error: undefined, reads: 0 },
  };
  const clock = { now: 0 };
  const log = recordingLog();
  const served = servedClusters({
    variable: variable.map((name) => ({ name, sources: ["notify"] })),
    records: {
      list: async (setAside = () => undefined) => {
        table.reads += 1;
        if (table.error !== undefined) throw table.error;
        for (const name of table.unreadable) setAside({ name, problem: "it is of another version" });
        return table.records;
      },
    },
    log,
    now: () => clock.now,
  });
  return { served, table, clock, log, names: async () => (await served.all()).map(({ name }) => name) };
}

describe("the clusters that a function works for", () => {
  it("are those of the variable and those of the table, which is read once a minute", async () => {
    const { table, clock, names } = process();
    table.records = [record("b")];
    expect(await names()).toEqual(["a", "b"]);
    table.records = [record("b"), record("c")];
    clock.now = 59_999;
    expect(await names()).toEqual(["a", "b"]);
    clock.now = 60_000;
    expect(await names()).toEqual(["a", "b", "c"]);
    expect(table.reads).toBe(2);
  });

  it("a name that is not known is looked for at once, and no more often than every ten seconds", async () => {
    const { served, table, clock } = process();
    await served.all();
    clock.now = 10_000;
    table.records = [record("b")];
    expect(await served.find("b")).toMatchObject({ name: "b", state: "served", roles: ROLES });
    for (clock.now = 10_001; clock.now < 20_000; clock.now += 1_000) expect(await served.find("stranger")).toBeUndefined();
    expect(table.reads).toBe(2);
    clock.now = 20_000;
    await served.find("stranger");
    expect(table.reads).toBe(3);
  });

  it("one that was being added is looked at again like one that is not known", async () => {
    const { served, table, clock } = process();
    table.records = [record("b", { state: "adding" })];
    expect((await served.find("b"))?.state).toBe("adding");
    table.records = [record("b")];
    clock.now = 9_999;
    expect((await served.find("b"))?.state).toBe("adding");
    clock.now = 10_000;
    expect((await served.find("b"))?.state).toBe("served");
  });

  it("a crowd that asks at once reads once", async () => {
    const { served, table } = process();
    await Promise.all(Array.from({ length: 50 }, (_, i) => served.find(`c${i}`)));
    expect(table.reads).toBe(1);
  });

  it("stay what they were while the table fails, which is asked again every ten seconds", async () => {
    const { served, table, clock, names, log } = process();
    table.records = [record("b")];
    await names();
    table.error = new Error("the table throttles");
    for (clock.now = 60_000; clock.now < 90_000; clock.now += 1_000) expect(await names()).toEqual(["a", "b"]);
    expect(table.reads).toBe(1 + 3);
    expect(log.errors).toHaveLength(3);
    expect(await served.find("b")).toMatchObject({ name: "b" });
    clock.now = 110_000;
    table.error = undefined;
    table.records = [];
    expect(await names()).toEqual(["a"]);
  });

  it("a message about a cluster that nobody can look up returns to its queue", async () => {
    const { served, table } = process();
    table.error = new Error("the table throttles");
    expect(await served.find("a")).toMatchObject({ name: "a" });
    await expect(served.find("b")).rejects.toThrow("cannot be read from the table");
  });

  it.for<{ state: ClusterRecord["state"]; named: boolean; isThere: boolean }>([
    { state: "adding", named: false, isThere: true },
    { state: "served", named: false, isThere: true },
    { state: "leaving", named: false, isThere: true },
    { state: "left", named: false, isThere: false },
    { state: "leaving", named: true, isThere: true },
    { state: "left", named: true, isThere: false },
  ])("one that is $state (in the variable: $named) is known: $isThere", async ({ state, named, isThere }) => {
    const { served, table } = process(named ? ["b"] : ["a"]);
    table.records = [record("b", { state, ...(named && { sources: [] }) })];
    await served.all();
    const found = await served.find("b");
    expect(found?.state).toBe(isThere ? state : undefined);
    // What a record does not say, the variable does.
    if (named && isThere) expect(found?.sources).toEqual(["notify"]);
  });

  it("one whose record cannot be read stays as it was known, and the others are served", async () => {
    const { table, clock, names, log } = process();
    table.records = [record("b")];
    await names();
    table.records = [record("c")];
    table.unreadable = ["b"];
    clock.now = 60_000;
    expect(await names()).toEqual(["a", "c", "b"]);
    expect(log.errors[0]).toContain("the record of cluster b cannot be read: it is of another version");
  });

  it("the only one is told apart from several", async () => {
    const { served, table, clock, names } = process();
    await names();
    expect(served.only()).toBe("a");
    table.records = [record("b")];
    clock.now = 60_000;
    await names();
    expect(served.only()).toBeUndefined();
  });
});

describe("a webhook's cluster", () => {
  const NOTIFY = ({ sources }: { readonly sources: readonly string[] }): boolean => sources.includes("notify");
  const variable = [
    { name: "told", sources: ["notify"] as const },
    { name: "swept", sources: ["sweep"] as const },
  ];

  it("of the variable is known without the table", async () => {
    const isServed = isServedBy(variable, async () => Promise.reject(new Error("the table is not asked")), NOTIFY);
    expect([await isServed("told"), await isServed("swept")]).toEqual([true, false]);
  });

  it("that was added is looked up, and counts as served where that fails", async () => {
    const find = async (name: string) => {
      if (name === "unknown") throw new Error("the table throttles");
      return name === "added" ? { name, sources: ["notify"] as const } : undefined;
    };
    const isServed = isServedBy(variable, async () => ({ find }), NOTIFY);
    expect([await isServed("added"), await isServed("stranger"), await isServed("unknown")]).toEqual([true, false, true]);
  });
});
