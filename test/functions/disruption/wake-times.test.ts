import { describe, expect, it } from "vitest";
import { embeddedNodeClaimStore } from "#adapters/store/embedded-store.ts";
import type { WakeUp } from "#core/ports/wake-ups.ts";
import {
  claimSpan,
  keepPass,
  lastPasses,
  putOff,
  readLastPass,
  readNextPass,
  recordPass,
  sleepUntil,
  writeNextPass,
} from "#functions/disruption/wake-times.ts";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import { NOW } from "../../support/builders.ts";

function open() {
  const sent: WakeUp[] = [];
  const written: string[] = [];
  const store = embeddedNodeClaimStore();
  let now = NOW;
  const putDocument: typeof store.putDocument = (name, bytes, version) => {
    written.push(version);
    return store.putDocument(name, bytes, version);
  };
  const wakeUps = { wake: async (wakeUps: readonly WakeUp[]) => void sent.push(...wakeUps) };
  const deps = { cluster: { name: "c" }, memory: new ProcessMemory(), store: { ...store, putDocument }, wakeUps, now: () => now } as never;
  return { deps, sent, written, pass: (ms: number) => (now += ms) };
}

describe("the times of passes", () => {
  it("what a pass leaves for the next one is written when it has changed", async () => {
    const { deps, written } = open();
    const passes = [
      { at: NOW, unseenPools: [] },
      { at: NOW, unseenPools: [] },
      { at: NOW, unseenPools: ["b", "a"] },
      { at: NOW, unseenPools: ["b", "a"] },
      { at: Number.POSITIVE_INFINITY, unseenPools: ["b", "a"] },
    ];
    expect(await readLastPass(deps)).toBeUndefined();
    for (const pass of passes) await writeNextPass(pass, await readLastPass(deps), deps);
    expect(written).toEqual([String(NOW), String(NOW), "Infinity"]);
    expect(await readLastPass(deps)).toEqual(passes.at(-1));
    expect(await readNextPass(deps)).toBe(Number.POSITIVE_INFINITY);
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
    await writeNextPass({ at: Number.POSITIVE_INFINITY, unseenPools: [] }, undefined, deps);
    await putOff(deps);
    await putOff(deps);
    expect(sent).toEqual([{ kind: "disruption", cluster: "c", cause: "PutOff", delayMs: 2_000 }]);
  });

  it("one pass in a span of four seconds claims it, and a pass that is recorded claims it, too", async () => {
    const { deps, pass } = open();
    pass(4_000 - (NOW % 4_000));
    expect(await claimSpan(deps)).toBe(true);
    pass(3_999);
    expect(await claimSpan(deps)).toBe(false);
    pass(1);
    await recordPass(deps);
    expect(await claimSpan(deps)).toBe(false);
  });

  it("a process knows when its last pass began, and the last one that read all definitions", () => {
    const { deps } = open();
    expect(lastPasses(deps)).toEqual({ any: undefined, fresh: undefined });
    keepPass(NOW - 2_000, true, deps);
    keepPass(NOW - 1_000, false, deps);
    expect(lastPasses(deps)).toEqual({ any: NOW - 1_000, fresh: NOW - 2_000 });
  });
});
