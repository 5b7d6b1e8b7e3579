import { expect, it } from "vitest";
import { embeddedNodeClaimStore } from "#adapters/store/embedded-store.ts";
import { fnv1a32 } from "#core/lib/fnv.ts";
import type { Pod } from "#core/model/pod.ts";
import { observePods } from "#functions/disruption/pod-events.ts";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import { at, INSTANCE, NOW, node, nodeClaim, pod, record } from "../../support/builders.ts";

const up = record({ instance: INSTANCE, initializedAt: NOW - 60_000 });
const young = record({ name: "young" });
const claim = nodeClaim({ conditions: ["Launched", "Registered", "Initialized"] });
const bound = (name: string): Pod => ({
  ...pod(name),
  status: { phase: "Running", conditions: [{ type: "PodScheduled", status: "True", lastTransitionTime: at(30) }] },
});
const state = (pods: readonly Pod[]) => ({ snapshot: { nodes: [node()], nodeClaims: [claim], pods }, records: [up, young] }) as never;

/** A table, with the writes of documents and the errors that were logged. */
function deps() {
  const store = embeddedNodeClaimStore();
  const documents: string[] = [];
  const errors: string[] = [];
  let now = NOW;
  const putDocument: typeof store.putDocument = (name, bytes, version) => {
    documents.push(name);
    return store.putDocument(name, bytes, version);
  };
  const log = { debug: () => {}, info: () => {}, error: (message: string) => errors.push(message) };
  const ports = { cluster: { name: "c" }, memory: new ProcessMemory(), store: { ...store, putDocument }, log, now: () => now };
  const timeOf = async (pods: readonly Pod[]): Promise<number | undefined> =>
    (await observePods(state(pods), ports as never)).find(({ name }) => name === up.name)?.lastPodEventAt;
  return { store, documents, errors, timeOf, pass: (ms: number) => (now += ms) };
}

it("a pod that comes to a node is one write of one document, whatever the cluster's size; no record is written", async () => {
  const { documents, timeOf, pass } = deps();
  expect(await timeOf([bound("a")])).toBe(NOW - 30_000);
  expect(await timeOf([bound("a")])).toBe(NOW - 30_000);
  expect(documents).toEqual(["pod-times/c"]);
  pass(60_000);
  expect(await timeOf([bound("a"), bound("b")])).toBe(NOW + 60_000);
  expect(documents).toHaveLength(2);
});

it.for([
  ["pod-times/c", "\u0001short"],
  ["pod-events/c", '[["default-abcde",7]]'],
])("a damaged document %s is told, counts as absent, and is written again", async ([name = "", text = ""]) => {
  const { store, errors, timeOf } = deps();
  await store.putDocument(name, new TextEncoder().encode(text), "1");
  expect(await timeOf([bound("a")])).toBe(NOW - 30_000);
  expect(errors).toEqual(["When pods came to and left nodes cannot be read, and counts as absent until it is written again"]);
  expect(await timeOf([bound("a")])).toBe(NOW - 30_000);
  expect(errors).toHaveLength(1);
});

it("a cluster without an initialized node reads and writes nothing", async () => {
  const { documents, store } = deps();
  const none = {
    cluster: { name: "c" },
    memory: new ProcessMemory(),
    store: { ...store, getDocument: () => Promise.reject(new Error("read")) },
    now: () => NOW,
  } as never;
  const records = [young];
  expect(await observePods({ snapshot: { nodes: [], nodeClaims: [], pods: [] } as never, records }, none)).toBe(records);
  expect(documents).toEqual([]);
});

it("the document of version 0.1 is read until there is one of this version: no pod seems to have come", async () => {
  const { store, documents, timeOf, pass } = deps();
  const { metadata } = bound("a");
  const digest = `1:${fnv1a32(metadata.uid ?? metadata.name).toString(16)}`;
  await store.putDocument("pod-events/c", new TextEncoder().encode(JSON.stringify([[up.name, digest, NOW - 7_000]])), "1");
  pass(60_000);
  expect(await timeOf([bound("a")])).toBe(NOW - 7_000);
  expect(documents).toEqual(["pod-times/c"]);
  expect(await timeOf([])).toBe(NOW + 60_000);
});

it("the document has 14 bytes for a node", async () => {
  const { store } = deps();
  const records = Array.from({ length: 1_000 }, (_, i) => record({ name: `default-${i}`, initializedAt: NOW }));
  const events = records.map(({ name }) => [name, `9:${fnv1a32(name).toString(16)}`, NOW - fnv1a32(name)]);
  await store.putDocument("pod-events/c", new TextEncoder().encode(JSON.stringify(events)), "1");
  const ports = { cluster: { name: "c" }, store, log: { error: () => {} }, now: () => NOW } as never;
  const seen = await observePods({ snapshot: { nodes: [], nodeClaims: [], pods: [] } as never, records }, ports);
  expect(seen.map(({ lastPodEventAt }) => lastPodEventAt)).toEqual(events.map(([, , time]) => time));
  expect((await store.getDocument("pod-times/c"))?.bytes).toHaveLength(1 + 14 * 1_000);
  expect(await observePods({ snapshot: { nodes: [], nodeClaims: [], pods: [] } as never, records }, ports)).toEqual(seen);
});
