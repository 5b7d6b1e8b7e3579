import { afterEach, describe, expect, it } from "vitest";
import { otherOwners } from "#core/model/instance-owner.ts";
import { INTENT, NODE_POOL } from "#core/model/labels.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { nodePoolStatus } from "#core/node-pool/status.ts";
import type { Lab } from "#lab/host.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { NODE_CLASS } from "../simulation/story.ts";
import * as builders from "../support/builders.ts";
import { INFLATE, ids, MINUTE, names, POOL, pass, ready, records, runningPods, scale } from "../support/lab-story.ts";
import * as objects from "../support/objects.ts";

let lab: Lab | undefined;
afterEach(() => {
  lab?.close();
  lab = undefined;
});

/** A lab in which three pods run on one machine, and a second NodeClaim names that machine. */
async function withTwin(name: string, isCopy: boolean): Promise<{ readonly lab: Lab; readonly owner: string }> {
  lab = await ready([NODE_CLASS, POOL, INFLATE]);
  scale(lab, 3);
  await pass(lab, 3 * MINUTE);
  const [claim] = lab.world.store.list("NodeClaim");
  const { uid: _, resourceVersion: __, annotations, ...metadata } = { ...claim?.metadata };
  const { [INTENT]: intent, ...others } = annotations ?? {};
  const twin = {
    ...claim,
    metadata: { ...metadata, name, annotations: isCopy ? { ...others, [INTENT]: intent } : others },
    spec: { ...(claim?.["spec"] as object), expireAfter: "5m" },
  };
  lab.world.store.create(twin as ApiObject & { kind: string }, { user: "tenant" });
  const made = lab.world.store.get("NodeClaim", name);
  lab.world.store.update({ ...made, status: claim?.["status"] } as never, { user: "tenant", subresource: "status" });
  return { lab, owner: claim?.metadata.name ?? "" };
}

describe.for([
  { what: "a copy", isCopy: true },
  { what: "a forged NodeClaim", isCopy: false },
])("$what of a NodeClaim under another name", ({ isCopy }) => {
  it.for(["aa-twin", "zz-twin"])("acts on nothing, both are told, and its deletion takes nothing along: %s", async (name) => {
    const { lab: twins, owner } = await withTwin(name, isCopy);
    const before = ids(twins);
    await pass(twins, 8 * MINUTE);
    expect(ids(twins)).toEqual(before);
    expect(runningPods(twins)).toBe(3);
    expect((await records(twins)).map((record) => record.name)).toEqual([owner]);
    const told = twins.world.events.map(({ reason, about }) => `${about.metadata.name} ${reason}`);
    expect(told).toContain(`${name} InstanceContested`);
    expect(told).toContain(`${owner} InstanceContested`);
    twins.world.delete("NodeClaim", name);
    await pass(twins, 3 * MINUTE);
    expect(names(twins, "NodeClaim")).toEqual([owner]);
    expect(ids(twins)).toEqual(before);
    expect(runningPods(twins)).toBe(3);
    expect(twins.world.events.map(({ reason }) => reason)).not.toContain("Evicted");
  });

  it.for(["aa-twin", "zz-twin"])("keeps the owner from nothing: its empty machine is removed: %s", async (name) => {
    const { lab: twins, owner } = await withTwin(name, isCopy);
    scale(twins, 0);
    await pass(twins, 6 * MINUTE);
    expect(names(twins, "NodeClaim")).not.toContain(owner);
    expect(ids(twins)).toEqual([]);
  });
});

describe("the NodeClaim that has an instance", () => {
  const { INSTANCE, nodeClaim, record } = builders;
  const recorded = (name: string, change: Partial<NodeClaimRecord> = {}) => record({ name, uid: name, instance: INSTANCE, ...change });
  const adopted = { reason: "adopted", createdAt: 0 } as const;

  it.for([
    { name: "is the one with the record", list: [recorded("b")], owner: "b" },
    {
      name: "is the one that it was launched for, not the one that was adopted",
      list: [recorded("a", adopted), recorded("b")],
      owner: "b",
    },
    { name: "is the older of two", list: [recorded("a", { createdAt: 2 }), recorded("b", { createdAt: 1 })], owner: "b" },
    { name: "is nobody's when no record has it", list: [record({ name: "b" })], owner: undefined },
  ])("$name", ({ list, owner }) => {
    const claims = ["a", "b"].map((name) => {
      const claim = nodeClaim({ conditions: ["Launched"] });
      return { ...claim, metadata: { ...claim.metadata, name } };
    });
    for (const records of [list, list.toReversed()]) {
      const otherOwnerOf = otherOwners(records);
      expect(claims.map((claim) => otherOwnerOf(claim)?.name)).toEqual([owner, undefined]);
    }
  });

  it("counts once for its NodePool", () => {
    const nodeClaims = ["own", "twin"].map((name) =>
      objects.nodeClaim(name, { uid: name, labels: { [NODE_POOL]: "default" }, providerID: "aws:///a/i-1", status: { nodeName: "n" } }),
    );
    const node = objects.node("n", { providerID: "aws:///a/i-1" });
    const ownerReferences = [{ apiVersion: "karpenter.sh/v1", kind: "NodeClaim", name: "own", uid: "own" }];
    const nodes = [{ ...node, metadata: { ...node.metadata, ownerReferences } }];
    const pool = objects.nodePool("default", { uid: "p" });
    const status = nodePoolStatus(pool, { nodeClass: undefined, nodeClaims, nodes, now: 0 });
    expect(status.nodes).toBe(1);
  });
});
