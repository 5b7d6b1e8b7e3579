import { expect, it } from "vitest";
import { viewCluster } from "../../../core/disruption/cluster/view.ts";
import { chooseSurplus } from "../../../core/static-capacity/surplus.ts";
import { type MachineParts, NOW, nodePool, pod, type Scene, snapshot } from "../disruption/builders.ts";

const DAEMON = { ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "d" }] };
const HELD = { annotations: { "karpenter.sh/do-not-disrupt": "true" } };
const named = (...names: readonly string[]): readonly MachineParts[] => names.map((name) => ({ name }));

/** The order in which nodes a, b, c … would go. */
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
  { name: "no machine yet first", machines: [{ name: "a" }, { name: "b", noNode: true }], pods: [], want: "b a" },
  { name: "nodes without pods before those with some", machines: named("a", "b"), pods: [pod("p", "a")], want: "b a" },
  { name: "daemons are no pods", machines: named("a", "b"), pods: [pod("p", "a"), pod("d", "b", { metadata: DAEMON })], want: "b a" },
  {
    name: "the fewest pods to move first",
    machines: named("a", "b"),
    pods: [pod("p", "a"), pod("q", "a"), pod("r", "b")],
    want: "b a",
  },
  {
    name: "do-not-disrupt last, however few they are",
    machines: named("a", "b"),
    pods: [pod("p", "a", { metadata: HELD }), pod("q", "b"), pod("r", "b")],
    want: "b a",
  },
  {
    name: "a daemon that must not be disturbed keeps its node from counting as empty",
    machines: named("a", "b"),
    pods: [pod("d", "a", { metadata: { ...DAEMON, ...HELD } }), pod("q", "b")],
    want: "b a",
  },
  { name: "names settle the rest", machines: named("b", "a", "c"), pods: [], want: "a b c" },
])("$name", ({ machines, pods, want }) => {
  expect(order(machines, pods)).toBe(want);
});

it("of equal pods, those on the node that is nearest to its end go first", () => {
  expect(order(named("a", "b"), [pod("p", "a"), pod("q", "b")], { a: 1, b: 600 })).toBe("b a");
});
