import { describe, expect, it } from "vitest";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { Pause } from "#core/model/pause.ts";
import type { Plan } from "#core/model/plan.ts";
import { isForgotten, pauseFromJson, pauseJson, pauseOf, pauseOfConfigMap, pauseText } from "#core/pause/pause.ts";
import { withoutPurchases } from "#core/pause/plan.ts";
import { isVoluntaryEnd } from "#core/pause/voluntary.ts";

const NOW = Date.parse("2026-11-28T12:00:00Z");
const HOUR = 3_600_000;

const pause = (fields: Partial<Pause> = {}): Pause => ({ source: "table", at: NOW, by: "alice", reason: "AMI", ...fields });
const configMap = (data?: Readonly<Record<string, string>>) =>
  pauseOfConfigMap(
    { metadata: { name: "karpenter-serverless-pause", creationTimestamp: "2026-11-28T11:00:00Z" }, ...(data && { data }) },
    NOW,
  );

describe("what holds a scope", () => {
  it.for([
    { name: "nothing without a pause", pauses: [], held: [false, false] },
    { name: "both by a pause of both", pauses: [pause()], held: [true, true] },
    { name: "one by a pause of one", pauses: [pause({ only: "launches" })], held: [false, true] },
    { name: "both by two that add up", pauses: [pause({ only: "launches" }), pause({ only: "disruption" })], held: [true, true] },
    { name: "nothing at the end of a pause", pauses: [pause({ until: NOW })], held: [false, false] },
    { name: "both a moment before its end", pauses: [pause({ until: NOW + 1 })], held: [true, true] },
  ])("$name", ({ pauses, held }) => {
    expect([pauseOf(pauses, "disruption", NOW) !== undefined, pauseOf(pauses, "launches", NOW) !== undefined]).toEqual(held);
  });

  it("the one that ends last is named", () => {
    const [short, long, open] = [pause({ until: NOW + 1 }), pause({ until: NOW + 9 }), pause({ by: "bob" })];
    expect(pauseOf([short, long], "launches", NOW)).toBe(long);
    expect(pauseOf([open, long], "launches", NOW)).toBe(open);
  });
});

describe("the document", () => {
  it("is read as it was written", () => {
    const written = pause({ only: "disruption", until: NOW + HOUR });
    expect(pauseFromJson(pauseJson(written), NOW)).toEqual(written);
    expect(pauseFromJson(pauseJson(undefined), NOW)).toBeUndefined();
  });

  it.for([
    "",
    "{",
    "[]",
    "null",
    '{"pause":7}',
    '{"pause":{"source":"table","at":"x","by":"a","reason":""}}',
    '{"pause":{"source":"table"}}',
    "{}",
  ])("that holds %s pauses both, and says how to end it", (text) => {
    const read = pauseFromJson(text, NOW);
    expect(read).toMatchObject({ at: NOW, problem: "the document cannot be read; run resume, or pause again" });
    expect(read?.only).toBeUndefined();
  });

  it("of a later version with a scope that this one does not know pauses both", () => {
    const later = JSON.stringify({ pause: { ...pause(), only: "registration" } });
    expect(pauseOf([pauseFromJson(later, NOW) as Pause], "launches", NOW)).toBeDefined();
  });
});

describe("the ConfigMap", () => {
  it("without data pauses both since its creation", () => {
    expect(configMap()).toEqual({ source: "ConfigMap", at: NOW - HOUR, by: "", reason: "" });
  });

  it("says what, until when, why and, by its own word, who", () => {
    const read = configMap({ only: "launches", until: "2026-11-28T18:00:00Z", reason: "quota\nis  low", by: "bob" });
    expect(read).toEqual({
      source: "ConfigMap",
      only: "launches",
      at: NOW - HOUR,
      until: NOW + 6 * HOUR,
      reason: "quota is low",
      by: "bob",
    });
    expect(pauseText(read)).toBe(
      "launches are paused by ConfigMap kube-system/karpenter-serverless-pause (by its own word bob) since 2026-11-28T11:00:00Z until 2026-11-28T18:00:00Z: quota is low",
    );
  });

  it.for([
    { data: { only: "all" }, problem: 'only is "all", not disruption or launches' },
    { data: { until: "2h" }, problem: 'until is "2h", not a time as in 2026-11-28T18:00:00Z' },
    { data: { until: "2026-13-45T00:00:00Z" }, problem: 'until is "2026-13-45T00:00:00Z", not a time as in 2026-11-28T18:00:00Z' },
    { data: { util: "x" }, problem: "util is no key of it; there are only, until, reason, by" },
  ])("$data pauses both, and the problem is named", ({ data, problem }) => {
    const read = configMap(data);
    expect(read).toMatchObject({ problem });
    expect(pauseText(read)).toContain(`(${problem})`);
    expect(pauseOf([read], "disruption", NOW + 1_000 * HOUR)).toBe(read);
    expect(pauseOf([read], "launches", NOW)).toBe(read);
  });
});

it.for([
  { reason: "empty", is: true },
  { reason: "underutilized", is: true },
  { reason: "drifted", is: true },
  { reason: "asleep", is: true },
  { reason: "expired", is: true },
  { reason: "unhealthy", is: true },
  { reason: "spot_interrupted", is: false },
  { reason: "deleted", is: false },
  { reason: "capacity_block_expiring", is: false },
  { reason: "registration_timeout", is: false },
  { reason: "garbage_collected", is: false },
])("an end because of $reason is voluntary: $is", ({ reason, is }) => {
  expect(isVoluntaryEnd({ terminating: { reason, at: NOW } } as NodeClaimRecord)).toBe(is);
});

it("a pause without an end is forgotten after a day", () => {
  expect([24, 25].map((hours) => isForgotten(pause(), NOW + hours * HOUR))).toEqual([false, true]);
  expect(isForgotten(pause({ until: NOW + 99 * HOUR }), NOW + 48 * HOUR)).toBe(false);
});

it("a plan buys nothing while launches are paused, and its pods have the reason", () => {
  const plan = { newNodeClaims: [{ pods: ["a/1", "a/2"] }], existingNodes: [], podErrors: { "b/1": "no room" } } as unknown as Plan;
  expect(withoutPurchases(plan, pause())).toEqual({
    newNodeClaims: [],
    existingNodes: [],
    podErrors: {
      "b/1": "no room",
      "a/1": "no node is launched: disruption and launches are paused by alice since 2026-11-28T12:00:00Z: AMI",
      "a/2": "no node is launched: disruption and launches are paused by alice since 2026-11-28T12:00:00Z: AMI",
    },
  });
});
