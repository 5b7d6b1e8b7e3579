import { expect, it } from "vitest";
import { planDisruption } from "#core/disruption/plan.ts";
import type { CostSettings } from "#core/model/prices.ts";
import { WITH_SOLVE } from "#test/support/disruption/with-solve.ts";
import { instanceType, NOW, nodePool, pod, snapshot } from "../builders.ts";

/**
 * Two burstable nodes of 4 CPUs, whose price includes 1.2: node "a" has one pod of 1 CPU, node "b" has two. With three
 * of them on "b", 1.8 CPUs cost surplus credits, where 0.8 cost them before: $0.05 an hour more.
 */
function decide(pricePerHour: number, costs: CostSettings = {}) {
  const types = [instanceType("t3.large", pricePerHour)].map((type) => ({
    ...type,
    offerings: type.offerings.filter(({ capacityType }) => capacityType === "on-demand"),
  }));
  const machines = ["a", "b"].map((name) => ({ name, type: "t3.large" }));
  return planDisruption({
    snapshot: snapshot({ pools: [nodePool()], types, machines, pods: [pod("a-0", "a"), pod("b-0", "b"), pod("b-1", "b")] }),
    ...{ records: [], commands: [], settings: { cluster: "c", ...costs }, now: NOW, ...WITH_SOLVE, newId: () => "id" },
  });
}

it.for([
  { name: "cost less than the node that goes", price: 0.04, costs: {} },
  { name: "do not count", price: 0.02, costs: { burstablePrice: "list" } as const },
  { name: "cost less than the node that goes with its overhead", price: 0.02, costs: { nodeOverheadPrice: 0.1 } },
])("a pod moves to a burstable node whose surplus credits $name", ({ price, costs }) => {
  expect(decide(price, costs).command).toMatchObject({ decision: "delete", candidates: [{ node: "a" }] });
});

it("a pod stays where the surplus credits of its new node cost more than its own node, and that is told", () => {
  const { command, blocked } = decide(0.02);
  expect(command).toBeUndefined();
  expect(blocked.find(({ node }) => node === "a")?.message).toMatch(/surplus credits/i);
});
