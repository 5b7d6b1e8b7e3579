import { expect, it } from "vitest";
import type { HistoryEntry } from "../../../core/model/history-entry.ts";
import { clusterOverview } from "../../../core/overview/cluster.ts";
import { pastOverview } from "../../../core/overview/past.ts";
import { NOW, snapshot } from "../disruption/builders.ts";

const HOUR = 3_600_000;
const SINCE = NOW - 24 * HOUR;
const about = { cluster: "c1", nodeClaim: "default-a", intent: "i", nodePool: "default" } as const;
const machine = { instanceId: "i-1", instanceType: "m5.large", zone: "a", capacityType: "spot", pricePerHour: 0.03, onDemandPerHour: 0.1 };

/** A cluster of one node of $0.40/h that is ten hours old. */
const created = new Date(NOW - 10 * HOUR).toISOString();
const one = snapshot({ machines: [{ name: "n1" }] });
const now = clusterOverview("c1", {
  ...{ records: [], commands: [] },
  snapshot: { ...one, nodes: one.nodes.map((node) => ({ ...node, metadata: { ...node.metadata, creationTimestamp: created } })) },
});

const removed = (launchedAt: number, at: number): HistoryEntry => ({
  type: "Removed",
  ...about,
  at,
  reason: "empty",
  terminatingAt: at - 60_000,
  machine,
  launchedAt,
});

it("the last day costs what ran in it, machines that have gone among them, beside on demand", () => {
  const past = pastOverview([removed(SINCE - 5 * HOUR, SINCE + 4 * HOUR), removed(NOW - 2 * HOUR, NOW - HOUR)], now, SINCE);
  expect(past.dollars).toBeCloseTo(10 * 0.4 + 5 * 0.03);
  expect(past.onDemandDollars).toBeCloseTo(10 * 0.4 + 5 * 0.1);
  expect(past.costs.map(({ at, perHour }) => [(at - SINCE) / HOUR, perHour])).toEqual([
    [0, 0.03],
    [4, 0],
    [14, 0.4],
    [22, 0.43],
    [23, 0.4],
  ]);
});

it("events have the sentences of the history, the latest first, and without the steps between", () => {
  const registered: HistoryEntry = { type: "Registered", ...about, at: NOW - 3 * HOUR, node: "n0" };
  const { events } = pastOverview([removed(SINCE, NOW - HOUR), registered, removed(SINCE, NOW - HOUR / 2)], now, SINCE);
  expect(events.map(({ at, kind, title }) => [at, kind, title])).toEqual([
    [NOW - HOUR / 2, "Removed", "nodeclaim/default-a"],
    [NOW - HOUR, "Removed", "nodeclaim/default-a"],
  ]);
  expect(events[0]?.text).not.toBe("");
});

it("what consolidations save is summed, and drift is none", () => {
  const disrupted = (reason: "Underutilized" | "Drifted"): HistoryEntry => ({
    ...{
      type: "Disrupted",
      cluster: "c1",
      at: NOW - HOUR,
      commandId: "x",
      reason,
      method: "multi",
      decision: "delete",
      nodes: [],
      how: "",
      replacements: [],
    },
    ...{ moves: [], podCount: 0, savesPerHour: 0.2, tried: [], triedCount: 0 },
  });
  const past = pastOverview([disrupted("Underutilized"), disrupted("Underutilized"), disrupted("Drifted")], now, SINCE);
  expect(past.consolidationSavesPerHour).toBeCloseTo(0.4);
});

it("a history without entries costs what the present nodes have cost", () => {
  expect(pastOverview([], now, SINCE)).toMatchObject({ dollars: expect.closeTo(4), events: [] });
});
