import { expect, it } from "vitest";
import { planDisruption } from "#core/disruption/plan.ts";
import { billOf } from "#core/insight/what-if/bill.ts";
import { carryOut } from "#core/insight/what-if/carry-out.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { WITH_SOLVE } from "#test/support/disruption/with-solve.ts";
import { nodePool, pod, snapshot } from "../../disruption/builders.ts";

function decided(start: Snapshot) {
  const { command } = planDisruption({
    ...{ snapshot: start, records: [], commands: [], settings: { cluster: "c" }, now: start.now },
    ...{ ...WITH_SOLVE, newId: () => "id" },
  });
  if (command === undefined) throw new Error("nothing was decided");
  return command;
}

it("carrying out removes the candidates, initializes the replacements and moves the pods at once", () => {
  const start = snapshot({ machines: [{ name: "a" }, { name: "b" }], pods: [pod("p", "a"), pod("q", "b")] });
  const command = decided(start);
  const end = carryOut(start, command);
  expect(end.now).toBe(start.now);
  expect(end.nodes).toHaveLength(1);
  expect(end.pods.map(({ spec }) => spec.nodeName)).toEqual(Array(2).fill(end.nodes[0]?.metadata.name));
  expect(billOf(start).pricePerHour - billOf(end).pricePerHour).toBeCloseTo(command.savingsPerHour);
});

it("carrying out moves pods to existing nodes", () => {
  const machines = [
    { name: "a", type: "small" },
    { name: "b", type: "huge" },
  ];
  const start = snapshot({ pools: [nodePool()], machines, pods: [pod("p", "a"), pod("q", "b")] });
  const end = carryOut(start, {
    ...decided(start),
    replacements: [],
    candidates: decided(start).candidates.filter(({ node }) => node === "b"),
  });
  expect(end.pods.map(({ spec }) => spec.nodeName)).toEqual(["a", "a"]);
});

it("carrying out leaves a pod pending when it has no room", () => {
  const start = snapshot({ machines: [{ name: "a" }], pods: [pod("p", "a")] });
  const end = carryOut(start, { ...decided(start), replacements: [] });
  expect(end.pods.map(({ spec }) => spec.nodeName)).toEqual([undefined]);
});
