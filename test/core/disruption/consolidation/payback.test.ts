import { describe, expect, it } from "vitest";
import { type Candidate, findCandidates } from "#core/disruption/cluster/candidate.ts";
import { viewCluster } from "#core/disruption/cluster/view.ts";
import { disruptionCostUsd, netSavings, paybackTooLong } from "#core/disruption/consolidation/payback.ts";
import { planDisruption } from "#core/disruption/plan.ts";
import { describeBlocked } from "#core/disruption/reports/wording.ts";
import type { DisruptionSettings } from "#core/disruption/settings.ts";
import type { InstanceType } from "#core/model/instance-type.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { WITH_SOLVE } from "#test/support/disruption/with-solve.ts";
import { instanceType, NOW, nodePool, pod, snapshot } from "../builders.ts";

const HOUR_MS = 3_600_000;

/** The type with on-demand capacity alone. */
function onDemand(name: string, price?: number, more: Partial<InstanceType> = {}): InstanceType {
  const type = instanceType(name, price);
  return { ...type, ...more, offerings: type.offerings.filter(({ capacityType }) => capacityType === "on-demand") };
}

/** No cheaper instance type is offered: pods move to existing nodes or not at all. */
const ONLY_LARGE = [onDemand("large")];

/** Equal nodes "a", "b", … with the given numbers of pods. */
function cluster(...podCounts: readonly number[]): Snapshot {
  const names = podCounts.map((_, i) => String.fromCharCode(97 + i));
  return snapshot({
    pools: [nodePool()],
    types: ONLY_LARGE,
    machines: names.map((name) => ({ name })),
    pods: names.flatMap((name, i) => Array.from({ length: podCounts[i] ?? 0 }, (_, p) => pod(`${name}-${p}`, name))),
  });
}

function candidatesOf(scene: Snapshot): readonly Candidate[] {
  return findCandidates(viewCluster({ snapshot: scene, records: [], commands: [], now: NOW })).all;
}

describe("the disruption cost in USD", () => {
  it("is $0.001 for each node and each pod of eviction cost 1, unless set", () => {
    const candidates = candidatesOf(cluster(3, 1));
    expect(disruptionCostUsd({ cluster: "c" }, candidates)).toBeCloseTo(0.006, 12);
    expect(disruptionCostUsd({ cluster: "c", podMoveCost: 0.5 }, candidates)).toBeCloseTo(3, 12);
    expect(disruptionCostUsd({ cluster: "c", podMoveCost: 0 }, candidates)).toBe(0);
  });

  it.for([
    { name: "without a horizon disruption costs nothing", horizonMs: undefined, want: 0.01 },
    { name: "over an hour the cost counts in full", horizonMs: HOUR_MS, want: 0.006 },
    { name: "over a day a twenty-fourth of the cost counts", horizonMs: 24 * HOUR_MS, want: 0.01 - 0.004 / 24 },
  ])("$name", ({ horizonMs, want }) => {
    expect(netSavings({ cluster: "c", horizonMs }, candidatesOf(cluster(3)), 0.01)).toBeCloseTo(want, 12);
  });

  it.for([
    { name: "savings of any size pass without a horizon", horizonMs: undefined, saves: 1e-9, blocked: false },
    { name: "savings that pay back within a day pass", horizonMs: 24 * HOUR_MS, saves: 0.0002, blocked: false },
    { name: "the same savings do not pay back within an hour", horizonMs: HOUR_MS, saves: 0.0002, blocked: true },
    { name: "savings equal to the cost pass", horizonMs: HOUR_MS, saves: 0.004, blocked: false },
  ])("$name", ({ horizonMs, saves, blocked }) => {
    expect(paybackTooLong({ cluster: "c", horizonMs }, candidatesOf(cluster(3)), saves) !== undefined).toBe(blocked);
  });

  it.for([
    { name: "a pod that started within the horizon counts as twenty", started: NOW - 23 * HOUR_MS, horizonMs: 24 * HOUR_MS, want: 0.022 },
    { name: "a pod that started before the horizon counts once", started: NOW - 25 * HOUR_MS, horizonMs: 24 * HOUR_MS, want: 0.003 },
    { name: "without a horizon, a pod that has just started counts once", started: NOW, horizonMs: undefined, want: 0.003 },
  ])("$name", ({ started, horizonMs, want }) => {
    const scene = cluster(1);
    const young = pod("young", "a", { status: { startTime: new Date(started).toISOString() } });
    const view = viewCluster({
      snapshot: { ...scene, pods: [...scene.pods, young] },
      ...{ records: [], commands: [], now: NOW, settings: horizonMs === undefined ? {} : { horizonMs } },
    });
    expect(disruptionCostUsd({ cluster: "c", horizonMs }, findCandidates(view).all)).toBeCloseTo(want, 12);
  });

  it("names savings, horizon and cost when savings do not pay back", () => {
    const blocked = paybackTooLong({ cluster: "c", horizonMs: 1.5 * HOUR_MS }, candidatesOf(cluster(3)), 0.0002);
    expect(blocked && describeBlocked(blocked)).toBe(
      "Saving $0.0002/h does not repay moving its pods within 1.5 h (CONSOLIDATION_HORIZON): that counts as $0.0040",
    );
  });
});

describe("a pass with a payback horizon", () => {
  const decide = (scene: Snapshot, settings: Omit<DisruptionSettings, "cluster">) =>
    planDisruption({
      snapshot: scene,
      records: [],
      commands: [],
      settings: { cluster: "c", ...settings },
      now: NOW,
      ...WITH_SOLVE,
      newId: () => "id",
    });

  /**
   * Two nodes of $0.40; the pods of one fit on the other. At $1 a pod the move does not pay back in an hour, but in a
   * day.
   */
  const half = cluster(1, 2);

  it.for([
    { name: "moves pods when there is no horizon", settings: { podMoveCost: 1 } },
    { name: "moves pods when that pays back in a day", settings: { podMoveCost: 1, horizonMs: 24 * HOUR_MS } },
  ])("$name", ({ settings }) => {
    expect(decide(half, settings).command).toMatchObject({ decision: "delete", candidates: [{ node: "a" }] });
  });

  it("keeps nodes that do not pay back in an hour, and states it for each", () => {
    const { command, blocked } = decide(half, { podMoveCost: 1, horizonMs: HOUR_MS });
    expect(command).toBeUndefined();
    expect(Object.fromEntries(blocked.map(({ node, message }) => [node, message]))).toEqual({
      a: "Saving $0.4200/h does not repay moving its pods within 1 h (CONSOLIDATION_HORIZON): that counts as $2.0000",
      b: "Saving $0.4200/h does not repay moving its pods within 1 h (CONSOLIDATION_HORIZON): that counts as $3.0000",
    });
  });

  it("counts the overhead of a node that goes: it alone repays a move off a node of no price", () => {
    const free = { ...half, instanceTypes: new Map([["default", [onDemand("large", 0)]]]) };
    const settings = { podMoveCost: 0.02, horizonMs: 2 * HOUR_MS };
    expect(decide(free, { ...settings, nodeOverheadPrice: 0.03 }).command).toMatchObject({ candidates: [{ node: "a" }] });
    expect(decide(free, { ...settings, nodeOverheadPrice: 0.01 }).command).toBeUndefined();
  });

  it("counts the volumes of a replacement: they eat the saving of a cheaper instance", () => {
    const replaceable = (volumePrice: number): Snapshot => ({
      ...cluster(1),
      instanceTypes: new Map([["default", [...ONLY_LARGE, onDemand("medium", 0.2, { volumePrice })]]]),
    });
    // It saves $0.20 an hour by price, and moving the pod off the node counts as $0.10 in the hour.
    const settings = { podMoveCost: 0.05, horizonMs: HOUR_MS };
    expect(decide(replaceable(0), settings).command).toMatchObject({ decision: "replace" });
    expect(decide(replaceable(0.15), settings).command).toBeUndefined();
    expect(decide(replaceable(0.15), { ...settings, podMoveCost: 0.02 }).command).toMatchObject({ decision: "replace" });
  });

  it("counts the surplus credits that pods cost where they move", () => {
    // Three pods of 1 CPU on one t3.large of 4 CPUs cost $0.05 an hour more than two.
    const burstable = snapshot({
      types: [onDemand("t3.large", 0.06)],
      machines: ["a", "b"].map((name) => ({ name, type: "t3.large" })),
      pods: [pod("a-0", "a"), pod("b-0", "b"), pod("b-1", "b")],
    });
    const settings = { podMoveCost: 0.01, horizonMs: HOUR_MS, nodeOverheadPrice: 0 };
    expect(decide(burstable, { ...settings, burstablePrice: "list" }).command).toMatchObject({ decision: "delete" });
    expect(decide(burstable, settings).command).toBeUndefined();
  });

  it("deletes empty nodes however short the horizon is, because no pod moves", () => {
    const { command } = decide(cluster(0, 4), { podMoveCost: 1000, horizonMs: 1 });
    expect(command).toMatchObject({ method: "emptiness", candidates: [{ node: "a" }] });
  });
});
