import { expect, it } from "vitest";
import { billOf } from "#core/insight/what-if/bill.ts";
import { fromScratch, whatIf } from "#core/insight/what-if/what-if.ts";
import { WITH_SOLVE } from "#test/support/disruption/with-solve.ts";
import { machine, nodePool, pod, snapshot } from "../../disruption/builders.ts";

const settings = { cluster: "c" };
const onlyType = (type: string) => {
  const pool = nodePool("default", { consolidateAfter: "Never" });
  const requirements = [{ key: "node.kubernetes.io/instance-type", operator: "In" as const, values: [type] }];
  return { ...pool, spec: { ...pool.spec, template: { ...pool.spec.template, spec: { ...pool.spec.template.spec, requirements } } } };
};

it("a bill lists nodes by NodePool, type and capacity type, and names those without a price", () => {
  const machines = [{ name: "a" }, { name: "b" }, { name: "c", capacityType: "spot" }, { name: "d", type: "gone" }];
  expect(billOf(snapshot({ machines }))).toEqual({
    rows: [
      { nodePool: "default", instanceType: "gone", capacityType: "on-demand", nodes: 1, pricePerHour: 0 },
      { nodePool: "default", instanceType: "large", capacityType: "on-demand", nodes: 2, pricePerHour: 0.8 },
      { nodePool: "default", instanceType: "large", capacityType: "spot", nodes: 1, pricePerHour: expect.closeTo(0.16) },
    ],
    nodes: 4,
    pricePerHour: expect.closeTo(0.96),
    unpriced: ["d"],
  });
});

it("a bill leaves out nodes without a NodePool", () => {
  const { node } = machine({ name: "own", without: ["karpenter.sh/nodepool", "karpenter.k8s.aws/ec2nodeclass"] });
  expect(billOf({ ...snapshot({}), nodes: node ? [node] : [] })).toMatchObject({ nodes: 0, pricePerHour: 0 });
});

it("what-if compares the change with the course without it", () => {
  const pools = [nodePool("default", { consolidateAfter: "Never" })];
  const start = snapshot({ pools, machines: [{ name: "a" }], pods: [pod("p", "a")] });
  const { today, unchanged, changed } = whatIf(start, [], { nodePools: [onlyType("small")] }, { ...WITH_SOLVE, settings });
  expect(today.pricePerHour).toBe(0.4);
  expect(unchanged.course.steps).toEqual([]);
  expect(changed?.drifted).toMatchObject([{ node: "a", reason: "RequirementsDrifted" }]);
  expect(changed?.bill.rows).toMatchObject([{ instanceType: "small", nodes: 1 }]);
  expect(changed?.stranded).toEqual({});
  expect(whatIf(start, [], undefined, { ...WITH_SOLVE, settings })).not.toHaveProperty("changed");
});

it("what-if names the pods that would not schedule, and keeps their nodes", () => {
  const pools = [nodePool("default", { consolidateAfter: "Never" })];
  const wants = pod("p", "a", { spec: { nodeName: "a", nodeSelector: { "node.kubernetes.io/instance-type": "large" }, containers: [] } });
  const start = snapshot({ pools, machines: [{ name: "a" }, { name: "b" }], pods: [wants, pod("q", "b")] });
  const { changed } = whatIf(start, [], { nodePools: [onlyType("small")] }, { ...WITH_SOLVE, settings });
  expect(Object.keys(changed?.stranded ?? {})).toEqual(["default/p"]);
  // Consolidation removes one of the two nodes; the other has room for both pods.
  expect(changed?.bill.rows).toMatchObject([{ instanceType: "large", nodes: 1 }]);
  expect(changed?.course.last.blocked).toMatchObject([{ node: "b", blocked: { reason: "PodsUnplaced" } }]);
});

it("fromScratch plans all nodes again", () => {
  const start = snapshot({ machines: [{ name: "a" }, { name: "b", type: "huge" }], pods: [pod("p", "a"), pod("q", "b")] });
  expect(fromScratch(start)).toEqual({ nodes: 1, pricePerHour: expect.closeTo(0.04) });
});
