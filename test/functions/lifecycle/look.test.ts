import { expect, it } from "vitest";
import type { Node } from "#core/model/node.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { lookFor } from "#functions/lifecycle/look.ts";
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

/** A look at NodeClaim a, whose node is held, while these nodes are Ready. */
function look(nodes: readonly Node[], isFirst: boolean, change: Partial<NodeClaimRecord> = {}, isNews = true) {
  const deps = {
    ...{ cluster: { name: "c" }, memory: new ProcessMemory(), now: () => NOW },
    kubernetes: { list: async () => nodes },
    store: { isFirstWithin: async () => isFirst },
  } as unknown as LifecycleDeps;
  const instance = { ...INSTANCE, id: "i-a", zone: "us-west-2b" };
  const waiting = { dueAt: NOW, waits: { for: "node", dueAt: NOW } } as const;
  return lookFor(record({ ...waiting, instance, launchedAt: NOW - 30_000, heldFor: ["default/p"], ...change }), isNews, deps);
}

it("the first look at nodes that are Ready together has its pass open them", async () => {
  expect((await look([ready("a"), ready("b")], true)).known).toMatchObject({ opens: expect.any(String) });
});

it("a look at nodes that another pass is opening reads no NodeClaim, and looks again 2 s later, should that one be killed", async () => {
  expect(await look([ready("a"), ready("b")], false)).toEqual({ wakeAt: NOW + 2_000, isSeen: true, isTaken: true });
});

it("news of a node that another pass is initializing reads no NodeClaim; the look two seconds later does", async () => {
  expect(await look([], true, { nodeName: "node-a" })).toEqual({ wakeAt: NOW + 2_000, isSeen: true, isTaken: true });
  expect((await look([], true, { nodeName: "node-a" }, false)).wakeAt).toBeUndefined();
});

it("a node that is alone is opened by its own pass", async () => {
  expect((await look([ready("a")], false)).known).toEqual({ youngNodes: [ready("a")] });
});
