import { expect, it } from "vitest";
import { embeddedNodeClaimStore } from "#adapters/store/embedded-store.ts";
import type { ClaimView } from "#core/lifecycle/action.ts";
import { readAsked, readView } from "#functions/lifecycle/view.ts";
import type { LifecycleDeps } from "#functions/shared/cluster-deps.ts";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import { INSTANCE, NOW, record } from "../../support/builders.ts";
import * as objects from "../../support/objects.ts";

/** A cluster whose spot machines are all taken back at once; counts the records that are read by lists of the table. */
async function scene(notices: number) {
  const store = embeddedNodeClaimStore();
  for (let i = 0; i < notices; i++) {
    const instance = { ...INSTANCE, id: `i-${i}` };
    await store.create(record({ name: `old-${i}`, instance, version: 0, terminating: { reason: "spot_interrupted", at: NOW } }));
    await store.create(record({ name: `new-${i}`, version: 0, podUids: [`uid-pod-${i}`] }));
  }
  let read = 0;
  const nodes = (i: string) => objects.node(`node-${i}`, { providerID: `aws:///${INSTANCE.zone}/i-${i}` });
  const claim = (name: string) => objects.nodeClaim(name, { uid: `uid-${name}`, status: { nodeName: name.replace("old", "node") } });
  const deps = {
    cluster: { name: "c1", endpoint: "", caBundle: "" },
    memory: new ProcessMemory(),
    store: {
      ...store,
      list: async (cluster: string) => {
        const records = await store.list(cluster);
        read += records.length;
        return records;
      },
    },
    kubernetes: {
      get: async (kind: string, name: string) => (kind === "Node" ? nodes(name.replace("node-", "")) : claim(name)),
      list: async (_: string, { fieldSelector = "" }: { fieldSelector?: string }) => {
        const i = /node-(\d+)$/.exec(fieldSelector)?.[1];
        return [objects.pod(`pod-${i}`, { nodeName: `node-${i}` })];
      },
    },
    now: () => NOW,
  };
  return { deps: deps as unknown as LifecycleDeps, store, read: () => read };
}

/** The view of a NodeClaim that is being drained. */
async function endingView(name: string, deps: LifecycleDeps): Promise<ClaimView> {
  const view = await readView(name, deps);
  return { ...view, ...(await readAsked("pods", view, deps)) };
}

it("1,000 spot notices of one moment read each record of the table once, and each finds its own replacements", async () => {
  const { deps, read } = await scene(1_000);
  const views: ClaimView[] = [];
  for (let i = 0; i < 1_000; i++) views.push(await endingView(`old-${i}`, deps));
  expect(views.map(({ replacements }) => replacements.map(({ name }) => name))).toEqual(views.map((_, i) => [`new-${i}`]));
  expect(read()).toBe(2_000);
});

it("nobody waits for a reading of another invocation, which may be frozen", async () => {
  const { deps } = await scene(1);
  const frozen = { ...deps, store: { ...deps.store, list: () => new Promise<never>(() => {}) } };
  void endingView("old-0", frozen);
  expect((await endingView("old-0", deps)).replacements).toHaveLength(1);
});

it("records that were read two seconds ago are read again", async () => {
  const { deps, read } = await scene(1);
  for (const [ms, records] of [
    [0, 2],
    [1_999, 2],
    [2_000, 4],
    [3_999, 4],
  ] as const) {
    await endingView("old-0", { ...deps, now: () => NOW + ms });
    expect(read()).toBe(records);
  }
});

it("the ten messages of one invocation share one reading of the table, and another invocation reads for itself", async () => {
  const { deps, read } = await scene(10);
  const all = (invocation: ProcessMemory) =>
    Promise.all(Array.from({ length: 10 }, (_, i) => endingView(`old-${i}`, { ...deps, invocation })));
  await all(new ProcessMemory());
  expect(read()).toBe(20);
  const slow = { ...deps, now: () => NOW + 2_000, store: { ...deps.store, list: () => new Promise<never>(() => {}) } };
  void endingView("old-0", { ...slow, invocation: new ProcessMemory() });
  expect((await endingView("old-0", { ...deps, now: () => NOW + 2_000, invocation: new ProcessMemory() })).replacements).toHaveLength(1);
  expect(read()).toBe(40);
});

it("a shared reading of the table that failed fails one message of the invocation", async () => {
  const { deps } = await scene(10);
  let readings = 0;
  const list = (cluster: string) => (readings++ === 0 ? Promise.reject(new Error("no answer")) : deps.store.list(cluster));
  const failing = { ...deps, invocation: new ProcessMemory(), store: { ...deps.store, list } };
  const views = await Promise.allSettled(Array.from({ length: 10 }, (_, i) => endingView(`old-${i}`, failing)));
  expect(views.filter(({ status }) => status === "rejected")).toHaveLength(1);
});

it("a reading of the table that failed is not kept", async () => {
  const { deps } = await scene(1);
  const failing = { ...deps, store: { ...deps.store, list: () => Promise.reject(new Error("the table did not answer")) } };
  await expect(endingView("old-0", failing)).rejects.toThrow("the table did not answer");
  expect((await endingView("old-0", deps)).replacements).toHaveLength(1);
});
