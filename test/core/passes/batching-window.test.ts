import { describe, expect, it } from "vitest";
import { rfc3339 } from "#core/model/conditions.ts";
import type { Pod } from "#core/model/pod.ts";
import { windowLeft } from "#core/passes/batching-window.ts";

const BEGIN = Date.parse("2026-01-01T09:00:00Z");

/** A pod that kube-scheduler gave up this many seconds after the beginning; the API server writes whole seconds. */
const givenUp = (second: number): Pod => ({
  metadata: { name: `p${second}` },
  spec: { containers: [] },
  status: {
    conditions: [
      { type: "PodScheduled", status: "False", reason: "Unschedulable", lastTransitionTime: rfc3339(BEGIN + Math.floor(second) * 1_000) },
    ],
  },
});
const untried = (second: number): Pod => ({
  metadata: { name: `u${second}`, creationTimestamp: rfc3339(BEGIN + Math.floor(second) * 1_000) },
  spec: { containers: [] },
});

const left = (
  pods: readonly Pod[],
  second: number,
  options: { idle?: number; max?: number; announced?: number; plannedAt?: number } = {},
) =>
  windowLeft(pods, {
    now: BEGIN + second * 1_000,
    idleMs: (options.idle ?? 1) * 1_000,
    maxMs: (options.max ?? 10) * 1_000,
    announced: options.announced ?? 0,
    plannedAt: BEGIN + (options.plannedAt ?? -3_600) * 1_000,
  }) / 1_000;

const every = (step: number, until: number): readonly Pod[] => Array.from({ length: until / step }, (_, i) => givenUp(i * step));

describe("how long the batching window stays open", () => {
  it.for([
    { what: "without pods it is over", pods: [], at: 1, want: 0 },
    { what: "the one pod that the wake-up stands for has been waited for by the queue", pods: [givenUp(0)], at: 1, announced: 1, want: 0 },
    { what: "more pods than the wake-up stands for have come since", pods: [givenUp(0), givenUp(0.4)], at: 1, announced: 1, want: 0.5 },
    {
      what: "right after a plan, the one pod that the wake-up stands for opens it anew",
      pods: [givenUp(0)],
      at: 1,
      announced: 1,
      plannedAt: 0.2,
      want: 0.5,
    },
    { what: "it is over when no pod has come for its idle time", pods: [givenUp(0), givenUp(0.4)], at: 1.5, want: 0 },
    { what: "each pod that comes opens it anew", pods: every(0.4, 4), at: 4, want: 0.5 },
    { what: "a longer idle time is waited for from the last pod on", pods: [givenUp(0), givenUp(3)], at: 4, idle: 5, want: 4.5 },
    { what: "a pod that kube-scheduler has not tried yet has come when it was created", pods: [givenUp(0), untried(2)], at: 2, want: 1.5 },
    { what: "it is over at its longest time, though pods still come", pods: every(0.4, 11), at: 10.6, want: 0 },
    { what: "the rest of its longest time is all that is waited for", pods: every(0.4, 10), at: 10.3, want: 0.2 },
    {
      what: "pods that came before a pause belong to an earlier window",
      pods: [givenUp(-60), givenUp(-8), givenUp(0.1)],
      at: 0.5,
      want: 1,
    },
    { what: "pods that the last plan has left begin no window", pods: every(0.4, 14), at: 14, plannedAt: 11, want: 0.5 },
    { what: "an arrival in the future is not waited for", pods: [givenUp(3_600)], at: 0, want: 0 },
  ])("$what", ({ pods, at, want, ...options }) => {
    expect(left(pods, at, options)).toBeCloseTo(want, 3);
  });

  it("no pause of less than half a second ends it, however the seconds of the stamps fall", () => {
    for (let last = 0; last < 3; last += 0.05) {
      for (let now = last; now < last + 0.45; now += 0.05) expect(left([givenUp(last)], now), `${last} ${now}`).toBeGreaterThan(0);
    }
  });

  it("a pause of half a second more than the idle time always ends it", () => {
    for (let last = 0; last < 3; last += 0.05) expect(left([givenUp(last)], last + 1.5), `${last}`).toBe(0);
  });
});
