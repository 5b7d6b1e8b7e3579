import { expect, it } from "vitest";
import type { Pod } from "#core/model/pod.ts";
import { nodeNominations } from "#core/provisioning/node-nominations.ts";
import { boundPod, nodeWithClaim, pod, snapshotOf } from "../../support/scheduling/builders.ts";

/** What kube-scheduler is told while node "a" is registered and node "b" has not joined. */
function told(pods: readonly Pod[], nominated: Readonly<Record<string, string>>) {
  const [a, b] = [nodeWithClaim("a", { initialized: false }), nodeWithClaim("b")];
  const snapshot = snapshotOf(
    { nodes: [a.node], nodeClaims: [a.claim, b.claim], pods },
    { nominated: new Map(Object.entries(nominated).map(([name, node]) => [`uid-${name}`, `default-${node}`])) },
  );
  return nodeNominations(snapshot).map(({ pod: { metadata }, node }) => `${metadata.name} ${node}`);
}

/** Pods of another kind, which have no place. */
const MANY = [pod("many-1"), pod("many-2")];
const x = pod("x", { cpu: "2" });
const y = pod("y", { cpu: "3" });

const on = (one: Pod, nominatedNodeName: string): Pod => ({ ...one, status: { ...one.status, nominatedNodeName } });

const near = { topologyKey: "topology.kubernetes.io/zone", labelSelector: {} };
const NEAR = { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near] } } };

it.for<{ name: string; pods: readonly Pod[]; nominated: Record<string, string>; want: readonly string[] }>([
  { name: "its node once that is registered", pods: [x, y, ...MANY], nominated: { x: "a", y: "b" }, want: ["x a"] },
  { name: "nothing while no other pod waits", pods: [x, y], nominated: { x: "a", y: "a" }, want: [] },
  { name: "its node when a pod without a place waits, too", pods: [x, ...MANY], nominated: { x: "a" }, want: ["x a"] },
  { name: "nothing twice", pods: [on(x, "a"), y, ...MANY], nominated: { x: "a", y: "b" }, want: [] },
  { name: "its node in place of one that is gone", pods: [on(x, "gone"), y, ...MANY], nominated: { x: "a", y: "b" }, want: ["x a"] },
  {
    name: "nothing when it must be near another pod",
    pods: [pod("x", { cpu: "2" }, NEAR), y, ...MANY],
    nominated: { x: "a", y: "b" },
    want: [],
  },
  { name: "nothing when it is bound", pods: [boundPod("x", "other"), y, ...MANY], nominated: { x: "a", y: "b" }, want: [] },
])("kube-scheduler is told of a pod $name", ({ pods, nominated, want }) => {
  expect(told(pods, nominated)).toEqual(want);
});

it("kube-scheduler's own nomination for a preemption stays", () => {
  const other = nodeWithClaim("other");
  const [a, b] = [nodeWithClaim("a", { initialized: false }), nodeWithClaim("b")];
  const snapshot = snapshotOf(
    { nodes: [a.node, other.node], nodeClaims: [a.claim, b.claim, other.claim], pods: [on(x, "other"), y, ...MANY] },
    { nominated: new Map([["uid-x", "default-a"]]) },
  );
  expect(nodeNominations(snapshot)).toEqual([]);
});
