import { describe, expect, it } from "vitest";
import type { Node } from "#core/model/node.ts";
import type { NodeClaimRecord, WaitsFor } from "#core/model/node-claim-record.ts";
import type { Pod } from "#core/model/pod.ts";
import { checkWait } from "#functions/lifecycle/check.ts";
import type { LifecycleDeps } from "#functions/shared/cluster-deps.ts";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import { at, INSTANCE, NOW, node, pod, record } from "../../support/builders.ts";

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
  const of = record({ ...waiting, instance, launchedAt: NOW - 30_000, heldFor: ["default/p"], ...change });
  return checkWait(of, isNews ? "event" : "due", deps);
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

describe("a NodeClaim that ends", () => {
  const dueAt = NOW + 60_000;
  const leaving = { ...pod("a"), metadata: { ...pod("a").metadata, deletionTimestamp: at(-30) } };

  /** A check of a NodeClaim that waits for this, in a cluster and an account with that. */
  function checked(
    waitsFor: WaitsFor,
    checkedFor: "event" | "poll" | "due",
    {
      pods = [leaving],
      attached = [],
      state = "shutting-down",
    }: { pods?: readonly Pod[]; attached?: readonly object[]; state?: string } = {},
  ) {
    const lists: Readonly<Record<string, readonly unknown[]>> = { Pod: pods, VolumeAttachment: attached };
    const deps = {
      ...{ cluster: { name: "c" }, memory: new ProcessMemory(), now: () => NOW },
      kubernetes: { list: async (kind: string) => lists[kind] ?? [] },
      fleet: { describe: async () => [{ ...INSTANCE, state }] },
      store: { list: async () => [] },
    } as unknown as LifecycleDeps;
    const terminating = { reason: "spot_interrupted", at: NOW - 20_000 };
    const waits = { for: waitsFor, dueAt };
    return checkWait(record({ uid: "u", instance: INSTANCE, nodeName: "n", terminating, dueAt, waits }), checkedFor, deps);
  }
  const LATER = { nextCheckAt: dueAt, isScheduled: true };
  const attachment = { metadata: { name: "csi" }, spec: { nodeName: "n", source: { persistentVolumeName: "pv" } } };

  it.for<{ waitsFor: WaitsFor; seen: Parameters<typeof checked>[2]; over: Parameters<typeof checked>[2] }>([
    { waitsFor: "pods", seen: { pods: [leaving] }, over: { pods: [] } },
    { waitsFor: "evictions", seen: { pods: [pod("a")] }, over: { pods: [leaving] } },
    { waitsFor: "volumes", seen: { attached: [attachment], pods: [] }, over: { attached: [], pods: [] } },
    { waitsFor: "end", seen: { state: "shutting-down" }, over: { state: "terminated" } },
  ])("asks for no other check while it waits for $waitsFor, and is reconciled when that is over", async ({ waitsFor, seen, over }) => {
    expect(await checked(waitsFor, "poll", seen)).toEqual(LATER);
    expect((await checked(waitsFor, "poll", over)).state).toBeDefined();
    expect((await checked(waitsFor, "due", seen)).state).toBeDefined();
  });

  it("is reconciled after an event, but for its instance, of which EC2 is asked", async () => {
    expect((await checked("pods", "event")).state).toEqual({});
    expect(await checked("end", "event")).toEqual(LATER);
  });
});
