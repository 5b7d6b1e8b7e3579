import { expect, it } from "vitest";
import type { Node } from "#core/model/node.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { checkWait } from "#functions/lifecycle/check.ts";
import type { LifecycleDeps } from "#functions/shared/cluster-deps.ts";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import { at, INSTANCE, NOW, node, record } from "../../support/builders.ts";

function ready(id: string): Node {
  const made = node("joined");
  return {
    ...made,
    metadata: { ...made.metadata, name: `node-${id}`, creationTimestamp: at(0) },
    spec: { ...made.spec, providerID: `aws:///us-west-2b/i-${id}` },
    status: { ...made.status, conditions: [{ type: "Ready", status: "True", lastTransitionTime: at(0) }] },
  };
}

/** A check of NodeClaim a, whose node is held, while these nodes are Ready. */
function check(nodes: readonly Node[], isFirst: boolean, change: Partial<NodeClaimRecord> = {}, isNews = true) {
  const deps = {
    ...{ cluster: { name: "c" }, memory: new ProcessMemory(), now: () => NOW },
    kubernetes: { list: async () => nodes },
    store: { isFirstWithin: async () => isFirst },
  } as unknown as LifecycleDeps;
  const instance = { ...INSTANCE, id: "i-a", zone: "us-west-2b" };
  const waiting = { dueAt: NOW, waits: { for: "node", dueAt: NOW } } as const;
  return checkWait(record({ ...waiting, instance, launchedAt: NOW - 30_000, heldFor: ["default/p"], ...change }), isNews, deps);
}

it("the first check of nodes that are Ready together claims to uncordon them", async () => {
  expect((await check([ready("a"), ready("b")], true)).state).toMatchObject({ uncordons: expect.any(String) });
});

it("a check of nodes that another pass uncordons reads no NodeClaim, and is repeated 2 s later, in case that pass is killed", async () => {
  expect(await check([ready("a"), ready("b")], false)).toEqual({ nextCheckAt: NOW + 2_000, observed: true, ownedByOtherPass: true });
});

it("an event of a node that another pass initializes reads no NodeClaim; the check two seconds later does", async () => {
  expect(await check([], true, { nodeName: "node-a" })).toEqual({ nextCheckAt: NOW + 2_000, observed: true, ownedByOtherPass: true });
  expect((await check([], true, { nodeName: "node-a" }, false)).nextCheckAt).toBeUndefined();
});

it("a node that is alone is uncordoned by its own reconcile", async () => {
  expect((await check([ready("a")], false)).state).toEqual({ youngNodes: [ready("a")] });
});
