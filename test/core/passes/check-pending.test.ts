import { expect, it } from "vitest";
import { checkPending } from "#core/passes/check-pending.ts";
import { INSTANCE, NOW, pod, record } from "../../support/builders.ts";
import { pod as unbound } from "../../support/objects.ts";

type State = Parameters<typeof checkPending>[0];
type Facts = Parameters<typeof checkPending>[1];

const STATE: State = {
  ...{ reason: { cause: "PodsWaiting" }, records: [], commands: [], now: NOW, isFullyPlaced: false },
  ...{ batchIdleMs: 1_000, batchMaxMs: 10_000 },
};
const REGISTERED = { cause: "NodeRegistered", detail: "one" } as const;
const ONE = record({ name: "one", podUids: ["a"], launchedAt: NOW - 30_000 });
const OTHER = record({ name: "two", podUids: [], launchedAt: NOW - 30_000 });
const LEAVES = record({ instance: INSTANCE, nodeName: "node-1", terminating: { reason: "deleted", at: NOW } });
const old = unbound("a", { metadata: { uid: "a", creationTimestamp: new Date(NOW - 60_000).toISOString() } });
const young = unbound("b", { metadata: { uid: "b", creationTimestamp: new Date(NOW).toISOString() } });
const evicted = pod("c", { nodeName: "node-1" }, { uid: "c" });

it.for<{ name: string; state?: Partial<State>; facts?: Facts; want: string }>([
  { name: "any cause but a registered node", want: "read unboundPods" },
  {
    name: "the only node that starts, after a plan with a place for each pod",
    state: { reason: REGISTERED, records: [ONE], isFullyPlaced: true },
    want: "skip",
  },
  { name: "a node that registers after a plan that left a pod", state: { reason: REGISTERED, records: [ONE] }, want: "read unboundPods" },
  {
    name: "one of two nodes that start",
    state: { reason: REGISTERED, records: [ONE, OTHER], isFullyPlaced: true },
    want: "read unboundPods",
  },
  {
    name: "the node that all pods wait for",
    state: { reason: REGISTERED, records: [ONE, OTHER] },
    facts: { unboundPods: [old] },
    want: "skip",
  },
  { name: "no pods, and no node that leaves", facts: { unboundPods: [] }, want: "skip" },
  { name: "no pods, while a node leaves", state: { records: [LEAVES] }, facts: { unboundPods: [] }, want: "read pods" },
  { name: "no pods, while an empty node leaves", state: { records: [LEAVES] }, facts: { unboundPods: [], pods: [] }, want: "skip" },
  {
    name: "no pods, while a node with a pod leaves",
    state: { records: [LEAVES] },
    facts: { unboundPods: [], pods: [evicted] },
    want: "run",
  },
  {
    name: "no pods, while a node leaves that has not registered",
    state: { records: [{ ...LEAVES, nodeName: undefined } as never] },
    facts: { unboundPods: [] },
    want: "run",
  },
  { name: "a pod that waits", facts: { unboundPods: [old] }, want: "run" },
  { name: "a pod that has just come", facts: { unboundPods: [young] }, want: "wait 1500" },
])("$name: $want", ({ state = {}, facts = {}, want }) => {
  const answer = checkPending({ ...STATE, ...state }, facts);
  const detail = answer.next === "read" ? ` ${answer.fact}` : answer.next === "wait" ? ` ${answer.ms}` : "";
  expect(`${answer.next}${detail}`).toBe(want);
});
