import { expect, it } from "vitest";
import { keyOf, keyPrefixOf, subjectOf } from "#core/history/keys.ts";
import { isToldOf, nominatedEntry } from "#core/history/nominated.ts";
import { poolsOf, sentenceOf, titleOf } from "#core/insight/history/sentence.ts";
import type { HistoryEntry, PodsNominated } from "#core/model/history-entry.ts";
import { pod } from "../../support/scheduling/builders.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");
const ABOUT = { cluster: "c", at: NOW, nodeClaim: "default-x7k2p", intent: "0a", nodePool: "default", isReady: false } as const;
const aged = (name: string, ms: number) => pod(name, {}, {}, { creationTimestamp: new Date(NOW - ms).toISOString() });

const entryFor = (pods: Parameters<typeof nominatedEntry>[1], known: readonly HistoryEntry[] = []): PodsNominated => {
  const entry = nominatedEntry(ABOUT, pods, known);
  if (entry === undefined) throw new Error("no entry");
  return entry;
};
const planned = (fields: Partial<PodsNominated>): HistoryEntry => ({
  ...{ ...ABOUT, at: NOW - 1_000, type: "PodsNominated", pods: ["default/x"], podCount: 1 },
  ...fields,
});

it("a wait for a machine on its way is one sentence", () => {
  expect(sentenceOf(entryFor([aged("y", 2_000), aged("x", 12_000)]))).toBe(
    "planned also for 2 pods (default/x, default/y), the oldest 12s old: they wait until its node is ready",
  );
  expect(sentenceOf(entryFor([aged("x", 12_000)]))).toBe("planned also for 1 pod (default/x), 12s old: it waits until its node is ready");
  expect(sentenceOf(entryFor([pod("x")]))).toBe("planned also for 1 pod (default/x): it waits until its node is ready");
});

it("a wait for a node that runs names kube-scheduler", () => {
  const entry = { ...entryFor([aged("x", 60_000)]), nodeClaim: "", intent: "", nodePool: "", node: "n1", isReady: true };
  expect(sentenceOf(entry)).toBe("planned for 1 pod (default/x), 1m old: the node has room, and it waits until kube-scheduler binds it");
  expect([titleOf(entry), subjectOf(entry), poolsOf(entry)]).toEqual(["node/n1", "node/n1", []]);
});

it("it is found with the other entries of its NodeClaim", () => {
  const entry = entryFor([pod("x")]);
  expect(keyOf(entry).startsWith(keyPrefixOf("nodeclaim/default-x7k2p"))).toBe(true);
  expect([titleOf(entry), poolsOf(entry)]).toEqual(["nodeclaim/default-x7k2p", ["default"]]);
  expect(keyOf({ ...entry, at: NOW + 1 })).not.toBe(keyOf(entry));
});

it.for<{ name: string; known: HistoryEntry; want: readonly string[] }>([
  { name: "was told of already is not told again", known: planned({}), want: ["default/y"] },
  {
    name: "the NodeClaim was made for is not told again",
    known: {
      ...{ ...ABOUT, type: "Planned", reason: "provisioned", pods: ["default/x"], podCount: 1, requests: {}, choices: [] },
      ...{ at: NOW - 1_000, typeCount: 0, together: 1 },
    },
    want: ["default/y"],
  },
  { name: "has the name of an older one is told", known: planned({ at: NOW - 20_000 }), want: ["default/x", "default/y"] },
  { name: "waited for another NodeClaim of this name is told", known: planned({ intent: "0b" }), want: ["default/x", "default/y"] },
])("a pod that $name", ({ known, want }) => {
  expect(entryFor([aged("x", 12_000), aged("y", 1)], [known]).pods).toEqual(want);
});

it("there is no entry when each pod is known", () => {
  expect(nominatedEntry(ABOUT, [aged("x", 12_000)], [planned({})])).toBeUndefined();
});

it("an entry has few names, and the number of all", () => {
  const entry = entryFor(Array.from({ length: 5_000 }, (_, i) => pod(`web-${i}`)));
  expect([entry.pods.length, entry.podCount]).toEqual([300, 5_000]);
});

it.for([
  {
    name: "that was told of the same machine an hour ago is not told again",
    last: { subject: "nodeclaim/a", at: NOW - 3_600_000 },
    want: true,
  },
  {
    name: "that was told of another machine a moment ago is not told again yet",
    last: { subject: "nodeclaim/b", at: NOW - 59_999 },
    want: true,
  },
  { name: "that was told of another machine a minute ago is told again", last: { subject: "nodeclaim/b", at: NOW - 60_000 }, want: false },
  { name: "of which nothing was told is told", last: undefined, want: false },
])("a pod $name", ({ last, want }) => {
  expect(isToldOf(last, "nodeclaim/a", NOW)).toBe(want);
});
