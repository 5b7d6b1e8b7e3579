import { describe, expect, it } from "vitest";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import { NOW } from "../../support/builders.ts";

describe("what a process remembers", () => {
  it.for([
    { name: "within the age of its slot", after: 599_999, want: "1.36" },
    { name: "older than the age of its slot", after: 600_000, want: undefined },
    { name: "older than the use wants", after: 10_000, maxAgeMs: 10_000, want: undefined },
    { name: "no older than the slot allows, whatever the use wants", after: 600_000, maxAgeMs: 900_000, want: undefined },
    { name: "from a time far ahead: the clock was set back", after: -600_000, want: undefined },
  ])("$name: $want", ({ after, maxAgeMs, want }) => {
    const memory = new ProcessMemory();
    memory.keep("kubernetesVersion", "1.36", NOW);
    expect(memory.recall("kubernetesVersion", NOW + after, maxAgeMs === undefined ? {} : { maxAgeMs })).toBe(want);
  });

  it("is kept apart by slot, by key and by memory, and is forgotten", () => {
    const memory = new ProcessMemory();
    memory.keep("disruptionPass", NOW, NOW, "any");
    expect(memory.recall("disruptionPass", NOW, { key: "fresh" })).toBeUndefined();
    expect(memory.recall("fullRead", NOW)).toBeUndefined();
    expect(new ProcessMemory().recall("disruptionPass", NOW, { key: "any" })).toBeUndefined();
    memory.forget("disruptionPass", "any");
    expect(memory.recall("disruptionPass", NOW, { key: "any" })).toBeUndefined();
  });

  it("has a bound: another value removes the least recently used", () => {
    const memory = new ProcessMemory();
    for (const key of ["a", "b"]) memory.keep("disruptionPass", NOW, NOW, key);
    memory.recall("disruptionPass", NOW, { key: "a" });
    memory.keep("disruptionPass", NOW, NOW, "c");
    expect(["a", "b", "c"].map((key) => memory.recall("disruptionPass", NOW, { key }))).toEqual([NOW, undefined, NOW]);
  });
});
