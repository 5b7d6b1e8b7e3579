import { describe, expect, it } from "vitest";
import { type ExpectedSavings, expectedSavings, savingsMissed } from "#core/disruption/consolidation/expected-savings.ts";
import type { DisruptionInput } from "#core/disruption/consolidation/input.ts";
import { planDisruption } from "#core/disruption/plan.ts";
import { describeBlocked } from "#core/disruption/reports/wording.ts";
import type { CommandRecord } from "#core/model/command-record.ts";
import type { CostSettings } from "#core/model/prices.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { WITH_SOLVE } from "#test/support/disruption/with-solve.ts";
import { NOW, planned, pod, snapshot } from "../builders.ts";

const MINUTE_MS = 60_000;
const COSTS: CostSettings = { nodeOverheadPrice: 0.02 };

/** Machines of type large, $0.40 an hour each, on which a pod of 1 cpu runs. */
const cluster = (...names: readonly string[]): Snapshot =>
  snapshot({ machines: names.map((name) => ({ name })), pods: names.map((name) => pod(`on-${name}`, name)) });

const later = (state: Snapshot, ms: number): Snapshot => ({ ...state, now: NOW + ms });

/** Removes machines of type large without replacement. */
function command(id: string, machines: readonly string[], more: Partial<CommandRecord> = {}): CommandRecord {
  return {
    ...{ cluster: "c", id, version: 0, method: "multi", reason: "Underutilized", decision: "delete", replacements: [] },
    candidates: machines.map((name) => ({
      ...{ nodeClaim: `${name}-claim`, node: name, nodePool: "default", instanceType: "large", capacityType: "on-demand", zone: "a" },
      ...{ pricePerHour: 0.4, pods: [`default/on-${name}`] },
    })),
    ...{ replacementClaims: [], savingsPerHour: 0.4, phase: "Deleting", createdAt: NOW, since: NOW, dueAt: NOW },
    ...more,
  };
}

const expectedOf = (removed: readonly string[], before: Snapshot, last?: ExpectedSavings, id = "1"): ExpectedSavings =>
  expectedSavings(command(id, removed), before, [], COSTS, last);

describe("whether a consolidation saved what it was to save", () => {
  const before = cluster("a", "b", "c");
  const expected = expectedOf(["c"], before);

  it("it was to save the price and the overhead of the node that goes", () => {
    expect(expected.savesPerHour).toBeCloseTo(0.42, 4);
    expect(expected.costPerHour).toBeCloseTo(3 * 0.42, 4);
  });

  it.for([
    { name: "the cluster costs as much as before, with as many pods: the next one waits", after: cluster("a", "b", "d"), waits: true },
    { name: "the node is gone and its pod runs elsewhere: nothing waits", after: cluster("a", "b"), pods: 3, waits: false },
    { name: "more pods came, which cost more: nothing waits", after: cluster("a", "b", "d", "e"), waits: false },
    { name: "pods went, and with them the reason to compare: nothing waits", after: cluster("a", "b", "d"), pods: 2, waits: false },
    {
      name: "another command is being carried out: there is no verdict yet",
      after: cluster("a", "b", "d"),
      under: "Deleting",
      waits: false,
    },
    {
      name: "another command is only being validated: the verdict stands",
      after: cluster("a", "b", "d"),
      under: "Validating",
      waits: true,
    },
  ] as const)("$name", ({ after, waits, ...rest }) => {
    const { pods = after.nodes.length, under } = { pods: undefined, under: undefined, ...rest };
    const state = later({ ...after, pods: Array.from({ length: pods }, (_, i) => pod(`p-${i}`, "a")) }, MINUTE_MS);
    const others = under === undefined ? [] : [command("other", ["a"], { phase: under })];
    expect(savingsMissed(expected, state, others, COSTS) !== undefined).toBe(waits);
  });

  it("half of the savings is enough, because an instance may cost more than was planned", () => {
    const three = cluster("a", "b", "c");
    const replaced = (type: string): Snapshot => ({
      ...later(snapshot({ machines: [{ name: "a" }, { name: "b" }, { name: "d", type }] }), MINUTE_MS),
      pods: three.pods,
    });
    const cheap = command("1", ["c"], { replacements: [planned({ instanceTypes: ["small"], pricePerHour: 0.1 })] });
    const wanted = expectedSavings(cheap, three, [], COSTS, undefined);
    expect(wanted.savesPerHour).toBeCloseTo(0.3, 4);
    expect(savingsMissed(wanted, replaced("medium"), [], COSTS)).toBeUndefined();
    expect(savingsMissed(wanted, replaced("large"), [], COSTS)).toBeDefined();
  });

  it("a machine that is being deleted costs nothing any more", () => {
    const going = snapshot({ machines: [{ name: "a" }, { name: "b" }, { name: "c", deletionTimestamp: "2026-01-01T12:00:00Z" }] });
    expect(savingsMissed(expected, later({ ...going, pods: before.pods }, MINUTE_MS), [], COSTS)).toBeUndefined();
  });

  it("a command that saves overhead only is judged by its nodes", () => {
    const fewer = expectedOf(["c"], before).savesPerHour;
    const swap = command("1", ["b", "c"], { replacements: [planned({ instanceTypes: ["huge"], pricePerHour: 0.8 })] });
    const wanted = expectedSavings(swap, before, [], COSTS, undefined);
    expect(wanted.savesPerHour).toBeCloseTo(0.02, 4);
    expect(wanted.savesPerHour).toBeLessThan(fewer);
    const after = { ...snapshot({ machines: [{ name: "a" }, { name: "d", type: "huge" }] }), pods: before.pods };
    expect(savingsMissed(wanted, later(after, MINUTE_MS), [], COSTS)).toBeUndefined();
  });
});

describe("how long a consolidation waits after savings that did not come", () => {
  const state = cluster("a", "b", "c");
  const first = expectedOf(["c"], state);

  it("it waits five minutes, and says so", () => {
    const missed = savingsMissed(first, later(state, MINUTE_MS), [], COSTS);
    expect(missed?.until).toBe(NOW + 5 * MINUTE_MS);
    expect(missed && describeBlocked(missed)).toBe(
      "The last consolidation was to save $0.4200/h, but the nodes cost more than that now, because pods went elsewhere than planned; the next one is not before 2026-01-01T12:05:00Z",
    );
    expect(savingsMissed(first, later(state, 5 * MINUTE_MS), [], COSTS)).toBeUndefined();
  });

  it("it waits twice as long after each further one, at most a day", () => {
    let last = first;
    const waits: number[] = [];
    for (let i = 2; i < 13; i++) {
      last = expectedOf(["c"], state, last, String(i));
      waits.push(((savingsMissed(last, state, [], COSTS)?.until ?? 0) - NOW) / MINUTE_MS);
    }
    expect(waits).toEqual([10, 20, 40, 80, 160, 320, 640, 1280, 1440, 1440, 1440]);
  });

  it("savings that come end the row", () => {
    const second = expectedOf(["c"], state, first, "2");
    const saved = { ...cluster("a", "b"), pods: state.pods };
    expect(expectedOf(["b"], saved, second, "3").missed).toBe(0);
  });

  it("a step that is repeated after a kill does not count as a further one", () => {
    expect(expectedOf(["c"], later(state, MINUTE_MS), first)).toEqual(first);
  });

  it("a command that begins while another is carried out gives no verdict", () => {
    const other = command("other", ["a"], { phase: "Replacing" });
    expect(expectedSavings(command("2", ["c"]), state, [other], COSTS, first).missed).toBe(0);
  });

  it("of a command that was given up nothing is expected", () => {
    expect(savingsMissed({ ...first, savesPerHour: 0 }, later(state, MINUTE_MS), [], COSTS)).toBeUndefined();
  });
});

describe("a pass after savings that did not come", () => {
  const NO_PODS = { name: "b" };
  const decide = (state: Snapshot, expected?: ExpectedSavings) => {
    const input: DisruptionInput = {
      ...{ snapshot: state, records: [], commands: [], now: state.now, settings: { cluster: "c", ...COSTS } },
      ...{ ...WITH_SOLVE, newId: () => "id", nominatedUntil: new Map() },
    };
    return planDisruption({ ...input, ...(expected && { expected }) });
  };
  const half = cluster("a", "b");
  const missed = expectedOf(["b"], half);

  it("consolidates nothing, and every node that it might have taken says why", () => {
    expect(decide(half).command?.method).toMatch(/multi|single/);
    const plan = decide(later(half, MINUTE_MS), missed);
    expect(plan.command).toBeUndefined();
    expect(plan.blocked.map(({ node, blocked }) => `${node} ${blocked.reason}`).sort()).toEqual(["a SavingsMissed", "b SavingsMissed"]);
  });

  it("removes empty nodes all the same", () => {
    const empty = { ...snapshot({ machines: [{ name: "a" }, NO_PODS] }), pods: [pod("1", "a"), pod("2", "a")] };
    expect(decide(later(empty, MINUTE_MS), missed).command?.method).toBe("emptiness");
  });

  it("replaces drifted nodes all the same", () => {
    const drifted = snapshot({
      machines: [{ name: "a", drifted: "2026-01-01T00:00:00Z" }, { name: "b" }],
      pods: [pod("on-a", "a"), pod("on-b", "b")],
    });
    expect(decide(later(drifted, MINUTE_MS), missed).command?.method).toBe("drift");
  });
});
