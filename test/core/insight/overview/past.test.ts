import { expect, it } from "vitest";
import { reportOf } from "#core/insight/history/report.ts";
import { pastOverview } from "#core/insight/overview/past.ts";
import type { HistoryEntry } from "#core/model/history-entry.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { NOW } from "../../disruption/builders.ts";

const HOUR = 3_600_000;
const SINCE = NOW - 24 * HOUR;
const about = { cluster: "c1", nodeClaim: "default-a", intent: "i", nodePool: "spot" } as const;
const machine = { instanceId: "i-1", instanceType: "m5.large", zone: "a", capacityType: "spot", pricePerHour: 0.03, onDemandPerHour: 0.1 };

/** A machine of $0.40/h that runs since ten hours. */
const running = {
  ...{ name: "default-b", nodePool: "default", launchedAt: NOW - 10 * HOUR, launchPrice: { pricePerHour: 0.4, onDemandPerHour: 0.4 } },
  instance: { id: "i-b", instanceType: "m5.2xlarge", zone: "a", capacityType: "on-demand" },
} as NodeClaimRecord;
const pastOf = (entries: readonly HistoryEntry[], records: readonly NodeClaimRecord[] = [running]) =>
  pastOverview({ cluster: "c1", entries, records, since: SINCE, until: NOW });

const removed = (launchedAt: number, at: number, instanceId = "i-1"): HistoryEntry => ({
  type: "Removed",
  ...about,
  at,
  reason: "empty",
  terminatingAt: at - 60_000,
  machine: { ...machine, instanceId },
  launchedAt,
});

it("the last day costs what ran in it, machines that have gone among them, beside on demand", () => {
  const past = pastOf([removed(SINCE - 5 * HOUR, SINCE + 4 * HOUR), removed(NOW - 2 * HOUR, NOW - HOUR, "i-2")]);
  expect(past.dollars).toBeCloseTo(10 * 0.4 + 5 * 0.03);
  expect(past.onDemandDollars).toBeCloseTo(10 * 0.4 + 5 * 0.1);
  expect(past.savedBySpot).toBeCloseTo(5 * 0.07);
  expect(past).toMatchObject({ launched: 2, ended: 2, interruptions: 0 });
  expect(past.pools.map(({ nodePool, nodeHours }) => [nodePool, nodeHours])).toEqual([
    ["default", 10],
    ["spot", 5],
  ]);
  expect(past.costs.map(({ at, perHour }) => [(at - SINCE) / HOUR, perHour])).toEqual([
    [0, 0.03],
    [4, 0],
    [14, 0.4],
    [22, 0.43],
    [23, 0.4],
  ]);
});

it("the dollars are those of the command report", () => {
  const entries = [removed(SINCE - 5 * HOUR, SINCE + 4 * HOUR), removed(NOW - 2 * HOUR, NOW - HOUR, "i-2")];
  const { total, savedBySpot } = reportOf({ cluster: "c1", since: SINCE, until: NOW, entries, records: [running] });
  expect(pastOf(entries)).toMatchObject({ dollars: total.dollars, onDemandDollars: total.onDemandDollars, savedBySpot });
});

it("events have the sentences of the history, the latest first, and without the steps between", () => {
  const registered: HistoryEntry = { type: "Registered", ...about, at: NOW - 3 * HOUR, node: "n0" };
  const { events } = pastOf([removed(SINCE, NOW - HOUR), registered, removed(SINCE, NOW - HOUR / 2)]);
  expect(events.map(({ at, kind, title }) => [at, kind, title])).toEqual([
    [NOW - HOUR / 2, "Removed", "nodeclaim/default-a"],
    [NOW - HOUR, "Removed", "nodeclaim/default-a"],
  ]);
  expect(events[0]?.text).not.toBe("");
});

it("why a machine ended is among the events", () => {
  const terminating: HistoryEntry = { type: "Terminating", ...about, at: NOW - HOUR, reason: "spot_interrupted" };
  expect(pastOf([terminating])).toMatchObject({ interruptions: 1, events: [{ text: expect.stringContaining("Spot interruption") }] });
});

it("of many events the latest are listed, the others counted, and the line has as many points as a screen has columns", () => {
  const count = 200_000;
  const entries = Array.from({ length: count }, (_, i) => {
    const at = SINCE + Math.floor((i * 24 * HOUR) / count);
    return removed(at - 60_000, at, `i-${i}`);
  });
  const { events, moreEvents, costs } = pastOf(entries);
  expect([events.length, moreEvents]).toEqual([500, count - 500]);
  expect(costs.length).toBeLessThanOrEqual(1_001);
  expect(costs.at(-1)?.perHour).toBeGreaterThan(0);
});

it("what consolidations save is summed, and drift is none", () => {
  const disrupted = (commandId: string, reason: "Underutilized" | "Drifted"): HistoryEntry =>
    ({
      ...{
        type: "Disrupted",
        cluster: "c1",
        at: NOW - HOUR,
        commandId,
        reason,
        method: "multi",
        decision: "delete",
        nodes: [{ node: "n", nodeClaim: "c", nodePool: "default", instanceType: "m5.large", capacityType: "spot", zone: "a" }],
        how: "",
        replacements: [],
      },
      ...{ moves: [], podCount: 0, savesPerHour: 0.2, tried: [], triedCount: 0 },
    }) as unknown as HistoryEntry;
  const past = pastOf([disrupted("a", "Underutilized"), disrupted("b", "Underutilized"), disrupted("c", "Drifted")]);
  expect(past).toMatchObject({ consolidationSavesPerHour: 0.4, consolidations: 2, savedByConsolidation: 0.4 });
});

it("a history without entries costs what the present machines have cost", () => {
  expect(pastOf([])).toMatchObject({ dollars: expect.closeTo(4), events: [], moreEvents: 0 });
});
