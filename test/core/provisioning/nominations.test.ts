import { describe, expect, it } from "vitest";
import { NOMINATION_MS, nominationsOf, plannedPlaces } from "#core/provisioning/nominations.ts";
import { NOW, record } from "../../support/builders.ts";

describe("nominations of records", () => {
  it.for([
    { name: "is not launched", change: {}, holds: true },
    { name: "is launched", change: { launchedAt: NOW }, holds: true },
    { name: "has just been initialized", change: { initializedAt: NOW - NOMINATION_MS + 1 }, holds: true },
    { name: "was initialized a while ago", change: { initializedAt: NOW - NOMINATION_MS }, holds: false },
    { name: "is terminating", change: { terminating: { reason: "deleted", at: NOW } }, holds: false },
  ])("a pod is nominated to a NodeClaim that $name: $holds", ({ change, holds }) => {
    const found = nominationsOf([record({ name: "c", podUids: ["u"], ...change })], NOW);
    expect([...found]).toEqual(holds ? [["u", "c"]] : []);
  });

  it("of two NodeClaims for a pod the later one counts", () => {
    const records = [record({ name: "new", podUids: ["u"], createdAt: 2 }), record({ name: "old", podUids: ["u"], createdAt: 1 })];
    expect([...nominationsOf(records, NOW)]).toEqual([["u", "new"]]);
  });

  it("what a pod was planned for is known after its nomination is over", () => {
    expect([...plannedPlaces([record({ name: "c", podUids: ["u"], initializedAt: 1 })])]).toEqual([["u", "c"]]);
  });
});
