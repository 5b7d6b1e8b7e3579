import { expect, it } from "vitest";
import { viewCluster } from "#core/disruption/cluster/view.ts";
import { chooseSurplus } from "#core/static-capacity/surplus.ts";
import { type MachineParts, NOW, nodePool, pod, type Scene, snapshot } from "../disruption/builders.ts";

const DAEMON = { ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "d" }] };
const HELD = { annotations: { "karpenter.sh/do-not-disrupt": "true" } };
const named = (...names: readonly string[]): readonly MachineParts[] => names.map((name) => ({ name }));

/** The order in which nodes a, b, c … would be removed. */
function order(machines: readonly MachineParts[], pods: Scene["pods"] = [], ages: Readonly<Record<string, number>> = {}): string {
  const scene = snapshot({ pools: [nodePool("default", {}, { replicas: 3 })], machines, pods: pods ?? [] });
  const nodeClaims = scene.nodeClaims.map((claim) => {
    const hours = ages[claim.metadata.name.replace("-claim", "")] ?? 1;
    return { ...claim, metadata: { ...claim.metadata, creationTimestamp: new Date(NOW - hours * 3_600_000).toISOString() } };
  });
  const view = viewCluster({ snapshot: { ...scene, nodeClaims }, records: [], commands: [], now: NOW });
  const active = machines.map(({ name }) => `${name}-claim`);
  return chooseSurplus(view, active, active.length).join(" ").replaceAll("-claim", "");
}

it.for([
  { name: "claims without a node are removed first", machines: [{ name: "a" }, { name: "b", noNode: true }], pods: [], want: "b a" },
  {
    name: "claims whose node is being deleted are removed before empty nodes",
    machines: [{ name: "a" }, { name: "b", nodeDeletedAt: new Date(NOW).toISOString() }],
    pods: [pod("p", "b")],
    want: "b a",
  },
  { name: "nodes without pods are removed before nodes with pods", machines: named("a", "b"), pods: [pod("p", "a")], want: "b a" },
  {
    name: "DaemonSet pods do not count",
    machines: named("a", "b"),
    pods: [pod("p", "a"), pod("d", "b", { metadata: DAEMON })],
    want: "b a",
  },
  {
    name: "nodes with the fewest pods to move are removed first",
    machines: named("a", "b"),
    pods: [pod("p", "a"), pod("q", "a"), pod("r", "b")],
    want: "b a",
  },
  {
    name: "nodes with a do-not-disrupt pod are removed last",
    machines: named("a", "b"),
    pods: [pod("p", "a", { metadata: HELD }), pod("q", "b"), pod("r", "b")],
    want: "b a",
  },
  {
    name: "a node with a do-not-disrupt DaemonSet pod is not empty",
    machines: named("a", "b"),
    pods: [pod("d", "a", { metadata: { ...DAEMON, ...HELD } }), pod("q", "b")],
    want: "b a",
  },
  { name: "the name decides ties", machines: named("b", "a", "c"), pods: [], want: "a b c" },
])("$name", ({ machines, pods, want }) => {
  expect(order(machines, pods)).toBe(want);
});

it("a claim that has expired is removed before an empty node", () => {
  expect(order(named("a", "b"), [pod("p", "b")], { a: 1, b: 721 })).toBe("b a");
});

it("of nodes with equal pods, the one that expires first is removed first", () => {
  expect(order(named("a", "b"), [pod("p", "a"), pod("q", "b")], { a: 1, b: 600 })).toBe("b a");
});
