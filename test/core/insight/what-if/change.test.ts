import { expect, it } from "vitest";
import { applyChange, type Change } from "#core/insight/what-if/change.ts";
import { isTrue } from "#core/model/conditions.ts";
import { NODE_POOL_HASH, NODE_POOL_HASH_VERSION } from "#core/model/labels.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import { nodePoolHash } from "#core/node-pool/hash.ts";
import { machine, nodePool, snapshot } from "../../disruption/builders.ts";

const pool = nodePool();

function withTemplate(template: Partial<NodePool["spec"]["template"]["spec"]>): NodePool {
  return { ...pool, spec: { ...pool.spec, template: { ...pool.spec.template, spec: { ...pool.spec.template.spec, ...template } } } };
}

const nodeClass = (spec: Partial<EC2NodeClass["spec"]> = {}): EC2NodeClass => ({
  metadata: { name: "default" },
  spec: { subnetSelectorTerms: [], securityGroupSelectorTerms: [], amiSelectorTerms: [], role: "node", ...spec },
});

const hashed = (hash: string, version = "v3") => ({ [NODE_POOL_HASH]: hash, [NODE_POOL_HASH_VERSION]: version });
const annotated = (annotations: Readonly<Record<string, string>>): NodePool => ({ ...pool, metadata: { ...pool.metadata, annotations } });

const machines = [
  { name: "a", type: "large" },
  { name: "b", type: "small" },
];
const start = snapshot({ machines });

it.for<{ name: string; change: Change; want: readonly string[] }>([
  {
    name: "a taint makes every node drift",
    change: { nodePools: [withTemplate({ taints: [{ key: "k", effect: "NoSchedule" }] })] },
    want: ["a NodePoolDrifted", "b NodePoolDrifted"],
  },
  {
    name: "narrower requirements make the nodes drift that no longer meet them",
    change: {
      nodePools: [withTemplate({ requirements: [{ key: "node.kubernetes.io/instance-type", operator: "In", values: ["small"] }] })],
    },
    want: ["a RequirementsDrifted"],
  },
  {
    name: "a changed disruption block makes no node drift",
    change: { nodePools: [nodePool("default", { consolidateAfter: "5m", budgets: [{ nodes: "1" }] })] },
    want: [],
  },
  {
    name: "changed limits and weight make no node drift",
    change: { nodePools: [nodePool("default", {}, { limits: { cpu: "10" }, weight: 5 })] },
    want: [],
  },
  { name: "a new NodePool makes no node drift", change: { nodePools: [nodePool("new")] }, want: [] },
  {
    name: "a changed EC2NodeClass makes its nodes drift",
    change: { nodeClasses: [nodeClass({ role: "other" })] },
    want: ["a NodeClassDrift", "b NodeClassDrift"],
  },
  { name: "an equal EC2NodeClass makes no node drift", change: { nodeClasses: [nodeClass()] }, want: [] },
  {
    name: "an instance type that is no longer offered makes its nodes drift",
    change: { instanceTypes: new Map([["default", start.instanceTypes.get("default")?.filter(({ name }) => name !== "small") ?? []]]) },
    want: ["b InstanceTypeNotFound"],
  },
])("$name", ({ change, want }) => {
  const old = {
    ...start,
    nodeClaims: start.nodeClaims.map((claim) => ({ ...claim, metadata: { ...claim.metadata, creationTimestamp: "2025-12-31T00:00:00Z" } })),
  };
  const { drifted, snapshot: after } = applyChange(old, [nodeClass()], change);
  expect(drifted.map(({ node, reason }) => `${node} ${reason}`)).toEqual(want);
  const conditions = after.nodeClaims.flatMap(({ metadata, status }) => (isTrue(status?.conditions, "Drifted") ? [metadata.name] : []));
  expect(conditions).toEqual(want.map((text) => `${text.split(" ")[0]}-claim`));
});

it("a change compares the hashes of claims, and ends the drift of those that match the new NodePool", () => {
  const tainted = withTemplate({ taints: [{ key: "k", effect: "NoSchedule" }] });
  const { claim, node } = machine({ name: "a", drifted: "2025-12-31T00:00:00Z" });
  const made = { ...claim, metadata: { ...claim.metadata, annotations: hashed(nodePoolHash(tainted)) } };
  const before = { ...start, nodePools: [annotated(hashed(nodePoolHash(pool)))], nodes: node ? [node] : [], nodeClaims: [made] };
  const { drifted, snapshot: after } = applyChange(before, [], { nodePools: [tainted] });
  expect(drifted).toEqual([]);
  expect(isTrue(after.nodeClaims[0]?.status?.conditions, "Drifted")).toBe(false);
});

it("a claim with another hash version counts as made from the NodePool before the change", () => {
  const { claim } = machine({ name: "a" });
  const foreign = { ...claim, metadata: { ...claim.metadata, annotations: hashed("123", "v2") } };
  const before = { ...start, nodeClaims: [foreign] };
  expect(applyChange(before, [], { nodePools: [nodePool("default", { consolidateAfter: "1m" })] }).drifted).toEqual([]);
  expect(applyChange(before, [], { nodePools: [withTemplate({ terminationGracePeriod: "1h" })] }).drifted).toMatchObject([
    { reason: "NodePoolDrifted" },
  ]);
});

it("a change keeps drift that depends on the instance", () => {
  const { claim, node } = machine({ name: "a" });
  const conditions = [...(claim.status?.conditions ?? []), { type: "Drifted", status: "True", reason: "AMIDrift" } as const];
  const before = { ...start, nodes: node ? [node] : [], nodeClaims: [{ ...claim, status: { ...claim.status, conditions } }] };
  const { drifted, snapshot: after } = applyChange(before, [], { nodePools: [nodePool("default", { consolidateAfter: "1m" })] });
  expect(drifted).toEqual([]);
  expect(after.nodeClaims[0]?.status?.conditions?.at(-1)).toMatchObject({ type: "Drifted", status: "True", reason: "AMIDrift" });
});

it("a deleted NodePool deletes its nodes", () => {
  const { snapshot: after } = applyChange(start, [], { deletedPools: ["default"] });
  expect(after.nodePools).toEqual([]);
  expect(after.nodeClaims.every(({ metadata }) => metadata.deletionTimestamp !== undefined)).toBe(true);
});

it("a changed NodePool keeps its status, and a new one counts as ready", () => {
  const ready = { ...pool, metadata: { ...pool.metadata, annotations: { mine: "yes" } } };
  const { metadata: _, status: __, ...manifest } = nodePool("default", { consolidateAfter: "1m" });
  const { metadata: ___, status: ____, ...fresh } = nodePool("new");
  const { snapshot: after } = applyChange({ ...start, nodePools: [ready] }, [], {
    nodePools: [
      { ...manifest, metadata: { name: "default" } },
      { ...fresh, metadata: { name: "new" } },
    ],
  });
  expect(after.nodePools[0]).toMatchObject({ metadata: { uid: "uid-default", annotations: { mine: "yes" } }, status: ready.status });
  expect(isTrue(after.nodePools[1]?.status?.conditions, "Ready")).toBe(true);
});
