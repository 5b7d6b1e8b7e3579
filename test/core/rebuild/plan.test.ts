import { describe, expect, it } from "vitest";
import type { Instance } from "#core/model/instance.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import { planRebuild, type Remains } from "#core/rebuild/plan.ts";
import { INSTANCE, NOW, node, nodeClaim, record } from "../../support/builders.ts";

const POOL: NodePool = {
  metadata: { name: "default", uid: "pool-uid" },
  spec: { template: { spec: { requirements: [], nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" } } } },
};
const machine = (change: Partial<Instance> = {}): Instance => ({
  ...INSTANCE,
  state: "running",
  launchedAt: NOW - 600_000,
  tags: {
    "eks:eks-cluster-name": "c1",
    ...{ "karpenter.sh/nodepool": "default", "karpenter.sh/nodeclaim": "default-abcde", "karpenter-serverless/claim-uid": "uid-1" },
  },
  ...change,
});
const UP = record({ uid: "uid-1", instance: INSTANCE });
const CLAIM = nodeClaim({ conditions: ["Launched", "Registered"] });

const plan = (change: Partial<Remains>) =>
  planRebuild({
    ...{ cluster: "c1", records: [UP], claims: [CLAIM], nodes: [node()], nodePools: [POOL], instances: [machine()], now: NOW },
    newId: () => "id",
    ...change,
  });

it("a rebuild has nothing to do when nothing is lost", () => {
  expect(plan({})).toEqual([]);
});

describe("the table is lost", () => {
  it.for([
    { name: "a NodeClaim with an instance", change: {}, outcome: "it stays as it is", machine: "i-1" },
    {
      name: "a NodeClaim whose status does not name its instance",
      change: { claims: [nodeClaim()] },
      outcome: "it stays as it is",
      machine: "i-1",
    },
    {
      name: "a NodeClaim that was not launched",
      change: { claims: [nodeClaim()], instances: [] },
      outcome: "it is launched",
      machine: undefined,
    },
    {
      name: "a NodeClaim whose instance is gone",
      change: { instances: [] },
      outcome: "it ends, since its machine is no more",
      machine: "i-1",
    },
  ])("$name", ({ change, outcome, machine: id }) => {
    const [step, ...others] = plan({ records: [], ...change });
    expect(others).toEqual([]);
    expect(step).toMatchObject({
      outcome,
      write: { type: "create", record: { name: "default-abcde", uid: "uid-1", intentId: "intent-1" } },
    });
    expect(step?.write?.record.instance?.id).toBe(id);
  });

  it.for([
    { name: "its tags", records: [] },
    { name: "another record", records: [UP] },
  ])("a NodeClaim that names an instance which is not its own by $name gets no record", ({ records }) => {
    const copy = { ...CLAIM, metadata: { ...CLAIM.metadata, name: "copy", uid: "uid-2" } };
    const [step] = plan({ records, claims: [CLAIM, copy] }).filter(({ what }) => what === "NodeClaim copy");
    expect(step?.outcome).toMatch(/^delete it: instance i-1 /);
    expect(step?.write).toBeUndefined();
  });

  it("NodeClaims of other providers, and those without our finalizer, are ignored", () => {
    const foreign = { ...CLAIM, spec: { ...CLAIM.spec, nodeClassRef: { group: "x.example", kind: "X", name: "x" } } };
    const done = nodeClaim({ deletionTimestamp: new Date(NOW).toISOString(), finalizers: ["example.com/other"] });
    for (const claim of [foreign, done]) expect(plan({ records: [], claims: [claim], instances: [] })).toEqual([]);
  });
});

describe("NodeClaims are lost", () => {
  it.for([
    { name: "a NodeClaim whose instance runs", change: {}, outcome: "it is made again", uid: undefined, ends: false },
    {
      name: "a NodeClaim whose node is being deleted",
      change: { nodes: [node("going")] },
      outcome: "it is made again and drained, since its node is being deleted",
      uid: undefined,
      ends: false,
    },
    {
      name: "a NodeClaim without a running instance",
      change: { instances: [] },
      outcome: "it is forgotten, since it has no machine",
      uid: "uid-1",
      ends: true,
    },
    {
      name: "a NodeClaim that never had an instance",
      change: { records: [record({ uid: "uid-1" })], instances: [] },
      outcome: "it is forgotten, since it has no machine",
      uid: "uid-1",
      ends: true,
    },
  ])("$name", ({ change, outcome, uid, ends }) => {
    const [step, ...others] = plan({ claims: [], ...change });
    expect(others).toEqual([]);
    expect(step).toMatchObject({ outcome, write: { type: "update" } });
    expect(step?.write?.record.uid).toBe(uid);
    expect(step?.write?.record.terminating !== undefined).toBe(ends);
  });

  it.for([
    { name: "the current NodePool of that name", pools: [POOL], want: ["pool-uid"] },
    { name: "no owner when the NodePool is deleted", pools: [], want: [] },
  ])("a NodeClaim that is created again belongs to $name", ({ pools, want }) => {
    const owner = { apiVersion: "karpenter.sh/v1", kind: "NodePool", name: "default", uid: "old" };
    const owned = { ...UP, manifest: { ...UP.manifest, metadata: { name: UP.name, ownerReferences: [owner] } } };
    const [step] = plan({ records: [owned], claims: [], nodePools: pools });
    expect(step?.write?.record.manifest.metadata.ownerReferences?.map(({ uid }) => uid)).toEqual(want);
  });

  it("records that terminate, or whose NodeClaim was never created, are left to the lifecycle", () => {
    const going = { ...UP, terminating: { reason: "deleted", at: NOW } };
    for (const known of [going, record()]) expect(plan({ records: [known], claims: [], instances: [] })).toEqual([]);
  });
});

describe("both are lost", () => {
  const alone = { records: [], claims: [] };

  it("an instance with a node gets record and NodeClaim from its tags and its NodePool", () => {
    const [step] = plan(alone);
    expect(step).toMatchObject({ what: "instance i-1", outcome: "NodeClaim default-abcde is made for it", write: { type: "create" } });
    const { uid, instance, manifest } = step?.write?.record ?? {};
    expect({ uid, id: instance?.id }).toEqual({ uid: undefined, id: "i-1" });
    expect(manifest?.spec.requirements).toContainEqual({ key: "node.kubernetes.io/instance-type", operator: "In", values: ["m5.large"] });
    expect(manifest?.metadata.ownerReferences).toMatchObject([{ uid: "pool-uid" }]);
  });

  it.for([
    { name: "an instance that never joined is collected", change: { nodes: [] }, says: "it is collected, since it never became a node" },
    {
      name: "an instance whose NodePool is deleted waits for a person",
      change: { nodePools: [] },
      says: "apply NodePool default first, or it stays as it is",
    },
  ])("$name", ({ change, says }) => {
    const [step] = plan({ ...alone, ...change });
    expect(step).toMatchObject({ outcome: says });
    expect(step?.write).toBeUndefined();
  });
});

it("a rebuild names missing NodePools that instances belong to", () => {
  expect(plan({ nodePools: [] }).map(({ what, outcome }) => `${what}: ${outcome}`)).toEqual(["NodePool default: apply its manifest"]);
});
