import { expect, it } from "vitest";
import { idleState } from "#core/passes/idle-state.ts";
import { at, INSTANCE, NOW, record } from "../../support/builders.ts";
import { node, pod } from "../../support/objects.ts";

type Facts = Parameters<typeof idleState>[0];

const nodes = (count: number) => Array.from({ length: count }, (_, i) => node(`node-${i}`, { providerID: `aws:///z/i-${i}` }));
const LEAVES = record({ instance: INSTANCE, nodeName: "node-1", terminating: { reason: "deleted", at: NOW } });
const { nodeName: _, ...UNREGISTERED } = LEAVES;
const TABLE: Facts = { records: [], commands: [] };
const EMPTY: Facts = { ...TABLE, unboundPods: [] };
const deleted = { ...node("node-2", { providerID: "aws:///z/i-2" }), metadata: { name: "node-2", deletionTimestamp: at(0) } };

it.for<{ name: string; facts: Facts; want: string }>([
  { name: "nothing yet", facts: {}, want: "read table" },
  { name: "the table", facts: TABLE, want: "read unboundPods" },
  { name: "an unbound pod", facts: { ...TABLE, unboundPods: [pod("a")] }, want: "run busy" },
  { name: "no unbound pod", facts: EMPTY, want: "read nodes" },
  { name: "a node that leaves and has not registered", facts: { ...EMPTY, records: [UNREGISTERED] }, want: "run busy" },
  { name: "40 nodes", facts: { ...EMPTY, nodes: nodes(40) }, want: "skip noPods" },
  { name: "41 nodes, whose lists are to be kept current", facts: { ...EMPTY, nodes: nodes(41) }, want: "run large" },
  { name: "a node that is deleted without a record", facts: { ...EMPTY, nodes: [deleted] }, want: "run busy" },
  { name: "a node that leaves", facts: { ...EMPTY, records: [LEAVES], nodes: nodes(3) }, want: "read pods" },
  { name: "a node that leaves without pods", facts: { ...EMPTY, records: [LEAVES], nodes: nodes(3), pods: [] }, want: "skip noEvictions" },
  {
    name: "a node that leaves with a pod",
    facts: { ...EMPTY, records: [LEAVES], nodes: nodes(3), pods: [pod("a", { nodeName: "node-1" })] },
    want: "run busy",
  },
])("a sweep that has read $name: $want", ({ facts, want }) => {
  const answer = idleState(facts, NOW);
  expect(`${answer.next} ${answer.next === "read" ? answer.fact : answer.state}`).toBe(want);
});
