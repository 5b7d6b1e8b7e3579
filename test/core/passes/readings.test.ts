import { describe, expect, it } from "vitest";
import { judgeReadings, type Readings } from "#core/passes/readings.ts";

const NOW = Date.parse("2026-11-28T10:00:00Z");
const BEFORE: Readings = { pods: 100, nodes: 40 };
const DOUBTED: Readings = { ...BEFORE, doubtedAt: NOW };

describe("whether a pass may act upon its lists", () => {
  it.for([
    { name: "as many", pods: 100, nodes: 40, verdict: "plausible" },
    { name: "half of the pods", pods: 50, nodes: 40, verdict: "plausible" },
    { name: "more than half of the pods gone", pods: 49, nodes: 40, verdict: "doubtful" },
    { name: "no pod", pods: 0, nodes: 40, verdict: "doubtful" },
    { name: "more than half of the nodes gone", pods: 100, nodes: 19, verdict: "doubtful" },
    { name: "more", pods: 300, nodes: 90, verdict: "plausible" },
  ])("$name: $verdict", ({ pods, nodes, verdict }) => {
    expect(judgeReadings(BEFORE, { pods, nodes }, NOW).verdict).toBe(verdict);
  });

  it("pods that are listed as ending explain where they have gone, then and afterwards", () => {
    const ending = judgeReadings(BEFORE, { pods: 0, endingPods: 100, nodes: 40 }, NOW);
    expect(ending).toEqual({ verdict: "plausible", next: { pods: 0, nodes: 40 } });
    expect(judgeReadings(ending.next, { pods: 0, nodes: 40 }, NOW + 1_000).verdict).toBe("plausible");
  });

  it("nine of nine pods may go at once, and the first lists are believed", () => {
    expect(judgeReadings({ pods: 9, nodes: 3 }, { pods: 0, nodes: 3 }, NOW).verdict).toBe("plausible");
    expect(judgeReadings(undefined, { pods: 0, nodes: 0 }, NOW)).toEqual({ verdict: "plausible", next: { pods: 0, nodes: 0 } });
  });

  it.for([
    { seconds: 0, verdict: "doubtful", lookAt: 30 },
    { seconds: 29, verdict: "doubtful", lookAt: 30 },
    { seconds: 30, verdict: "confirm", lookAt: 120 },
    { seconds: 119, verdict: "confirm", lookAt: 120 },
    { seconds: 120, verdict: "plausible", lookAt: undefined },
  ])("$seconds s after the first doubt a list is $verdict", ({ seconds, verdict, lookAt }) => {
    const judged = judgeReadings(DOUBTED, { pods: 0, nodes: 40 }, NOW + seconds * 1_000);
    expect(judged.verdict).toBe(verdict);
    expect(judged.lookAt).toBe(lookAt === undefined ? undefined : NOW + lookAt * 1_000);
  });

  it("the doubt begins once, and ends with a list that lacks nothing", () => {
    expect(judgeReadings(BEFORE, { pods: 0, nodes: 40 }, NOW).next).toEqual(DOUBTED);
    expect(judgeReadings(DOUBTED, { pods: 0, nodes: 40 }, NOW + 5_000).next).toBeUndefined();
    expect(judgeReadings(DOUBTED, { pods: 99, nodes: 40 }, NOW + 5_000)).toEqual({ verdict: "plausible", next: { pods: 99, nodes: 40 } });
  });

  it("small changes are not written", () => {
    expect(judgeReadings(BEFORE, { pods: 95, nodes: 41 }, NOW).next).toBeUndefined();
    expect(judgeReadings(BEFORE, { pods: 80, nodes: 41 }, NOW).next).toEqual({ pods: 80, nodes: 41 });
  });
});
