import { describe, expect, it } from "vitest";
import { sqliteNodeClaimStore } from "#adapters/store/sqlite-store.ts";
import type { CommandRecord } from "#core/model/command-record.ts";
import type { WakeUp } from "#core/ports/wake-ups.ts";
import {
  awaitedValidation,
  isDue,
  isFirstOfSwarm,
  isSweptAlready,
  lookedAt,
  noteNext,
  notePass,
  putOff,
  sleepUntil,
} from "#functions/disruption/wake-times.ts";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import { NOW } from "../../support/builders.ts";

function open() {
  const sent: WakeUp[] = [];
  const written: string[] = [];
  const store = sqliteNodeClaimStore();
  let now = NOW;
  const putDocument: typeof store.putDocument = (name, bytes, version) => {
    written.push(version);
    return store.putDocument(name, bytes, version);
  };
  const wakeUps = { wake: async (wakeUps: readonly WakeUp[]) => void sent.push(...wakeUps) };
  const deps = { cluster: { name: "c" }, memory: new ProcessMemory(), store: { ...store, putDocument }, wakeUps, now: () => now } as never;
  return { deps, sent, written, pass: (ms: number) => (now += ms) };
}

const command = (phase: CommandRecord["phase"], dueAt: number): CommandRecord => ({ phase, dueAt }) as CommandRecord;

describe("the times of passes", () => {
  it("a wake-up for a time is served when it is the time that the last pass has asked for, or later", async () => {
    const { deps, pass } = open();
    expect(await isDue(deps)).toBe(true);
    await noteNext([NOW + 20_000, NOW + 10_000], deps);
    expect(await isDue(deps)).toBe(false);
    pass(8_900);
    expect(await isDue(deps)).toBe(false);
    // Clocks of two processes may differ by a second.
    pass(100);
    expect(await isDue(deps)).toBe(true);
    await noteNext([], deps);
    expect(await isDue(deps)).toBe(false);
  });

  it("the time of the next pass is written when it has changed", async () => {
    const { deps, written } = open();
    for (const times of [[NOW], [NOW], [Number.POSITIVE_INFINITY], []]) await noteNext(times, deps);
    expect(written).toEqual([String(NOW), "Infinity"]);
  });

  it.for([
    { what: "20 s after a pass, 60 s after a sweep", sweptMs: 40_000, passedMs: 20_000, want: true },
    { what: "30 s after a pass", sweptMs: 30_000, passedMs: 30_000, want: false },
    { what: "20 s after a pass, 90 s after a sweep", sweptMs: 70_000, passedMs: 20_000, want: false },
  ])("a sweep is left out $what: $want", ({ sweptMs, passedMs, want }) => {
    const { deps, pass } = open();
    expect(isSweptAlready(deps)).toBe(false);
    notePass(NOW, true, deps);
    pass(sweptMs);
    notePass(NOW + sweptMs, false, deps);
    pass(passedMs);
    expect(isSweptAlready(deps)).toBe(want);
  });

  it("one wake-up is sent for a second, and none for a time after the next sweep", async () => {
    const { deps, sent } = open();
    await sleepUntil([NOW + 5_000, NOW + 90_000], deps);
    await sleepUntil([NOW + 4_600], deps);
    await sleepUntil([NOW + 90_001], deps);
    await sleepUntil([], deps);
    expect(sent).toEqual([{ kind: "disruption", cluster: "c", cause: "Due", delayMs: 5_000 }]);
  });

  it("a pass that found another decision under way is made up for, also when no time is due", async () => {
    const { deps, sent } = open();
    await noteNext([], deps);
    await putOff(deps);
    await putOff(deps);
    expect(sent).toEqual([{ kind: "disruption", cluster: "c", cause: "PutOff", delayMs: 2_000 }]);
  });

  it("times that follow each other closely are looked at together", () => {
    const second = 1_000;
    expect([10, 10.001, 12, 15].map((at) => lookedAt(at * second) / second)).toEqual([10, 15, 15, 15]);
    expect(lookedAt(Number.POSITIVE_INFINITY)).toBe(Number.POSITIVE_INFINITY);
  });

  it("one pass in four seconds serves all pods and nodes that come and go", async () => {
    const { deps, pass } = open();
    pass(4_000 - (NOW % 4_000));
    expect(await isFirstOfSwarm(deps)).toBe(true);
    pass(3_999);
    expect(await isFirstOfSwarm(deps)).toBe(false);
    pass(1);
    expect(await isFirstOfSwarm(deps)).toBe(true);
  });
});

it.for([
  { ms: 3_999, isFirst: false },
  { ms: 4_000, isFirst: true },
  // The clock was set back.
  { ms: -1, isFirst: true },
])("a wake-up of a pod $ms ms after a pass of this process has begun is the first of its swarm: $isFirst", async ({ ms, isFirst }) => {
  const { deps, pass } = open();
  notePass(NOW, false, deps);
  pass(ms);
  expect(await isFirstOfSwarm(deps)).toBe(isFirst);
});

describe("a command that waits for its validation", () => {
  const waiting = command("Validating", NOW + 10_000);

  it("is waited for, beside commands that wait for their replacements", () => {
    expect(awaitedValidation([], NOW)).toBeUndefined();
    expect(awaitedValidation([command("Replacing", NOW - 1)], NOW)).toBeUndefined();
    expect(awaitedValidation([command("Replacing", NOW - 1), waiting], NOW)).toBe(NOW + 10_000);
  });

  it("is not waited for when it is due, or when another one has something left to do", () => {
    expect(awaitedValidation([command("Validating", NOW), waiting], NOW)).toBeUndefined();
    for (const phase of ["Deleting", "RollingBack"] as const)
      expect(awaitedValidation([command(phase, NOW), waiting], NOW)).toBeUndefined();
  });
});
