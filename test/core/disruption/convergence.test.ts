import fc from "fast-check";
import { expect, it } from "vitest";
import { planDisruption } from "#core/disruption/plan.ts";
import { nodePrice } from "#core/disruption/prices/price.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { carryOut, hourlyCost } from "../../support/disruption/carry-out.ts";
import { WITH_SOLVE } from "../../support/disruption/with-solve.ts";
import { drawsOf } from "../../support/effort.ts";
import { instanceType, nodePool, pod, snapshot } from "./builders.ts";

const SIZES = [
  { name: "small", cpu: "2", price: 0.1 },
  { name: "medium", cpu: "4", price: 0.19 },
  { name: "large", cpu: "8", price: 0.37 },
];
const TYPES = SIZES.map(({ name, cpu, price }) => ({ ...instanceType(name, price), capacity: { cpu, memory: "32Gi", pods: "50" } }));

const machines = fc.array(
  fc.record({
    type: fc.constantFrom("small", "medium", "large"),
    capacityType: fc.constantFrom("on-demand", "spot"),
    pods: fc.integer({ min: 0, max: 2 }),
  }),
  { minLength: 1, maxLength: 6 },
);

/** Half-filled nodes of several sizes. */
const clusters = machines.map((list): Snapshot => {
  const scene = snapshot({
    pools: [nodePool()],
    types: TYPES,
    machines: list.map(({ type, capacityType }, i) => ({ name: `n${i}`, type, capacityType })),
    pods: list.flatMap(({ pods }, i) => Array.from({ length: pods }, (_, j) => pod(`p-${i}-${j}`, `n${i}`))),
  });
  const nodes = scene.nodes.map((node, i) => {
    const cpu = SIZES.find(({ name }) => name === list[i]?.type)?.cpu ?? "2";
    const resources = { cpu, memory: "32Gi", pods: "50" };
    return { ...node, status: { ...node.status, capacity: resources, allocatable: resources } };
  });
  return { ...scene, nodes };
});

it("a cluster saves with every command, keeps every pod, and settles", () => {
  fc.assert(
    fc.property(clusters, (start) => {
      let current = start;
      let cost = hourlyCost(current, nodePrice);
      for (let pass = 0; ; pass++) {
        const { command } = planDisruption({
          snapshot: current,
          records: [],
          commands: [],
          settings: { cluster: "c" },
          now: current.now,
          ...WITH_SOLVE,
          newId: () => `id-${pass}`,
        });
        if (!command) break;
        expect(pass).toBeLessThan(20);
        current = carryOut(current, command);
        const after = hourlyCost(current, nodePrice);
        expect(after).toBeLessThan(cost);
        expect(cost - after).toBeCloseTo(command.savingsPerHour, 6);
        cost = after;
      }
      expect(current.pods).toHaveLength(start.pods.length);
    }),
    { numRuns: drawsOf(60) },
  );
});

it("a pass makes the same decision in any order of the cluster's objects", () => {
  fc.assert(
    fc.property(clusters, (start) => {
      const decide = (s: Snapshot) =>
        planDisruption({
          snapshot: s,
          records: [],
          commands: [],
          settings: { cluster: "c" },
          now: s.now,
          ...WITH_SOLVE,
          newId: () => "id",
        }).command;
      const turned = {
        ...start,
        nodes: start.nodes.toReversed(),
        nodeClaims: start.nodeClaims.toReversed(),
        pods: start.pods.toReversed(),
      };
      expect(decide(turned)).toEqual(decide(start));
    }),
    { numRuns: drawsOf(40) },
  );
});
