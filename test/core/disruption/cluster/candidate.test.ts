import { expect, it } from "vitest";
import { findCandidates } from "#core/disruption/cluster/candidate.ts";
import { viewCluster } from "#core/disruption/cluster/view.ts";
import { describeBlocked } from "#core/disruption/reports/wording.ts";
import type { CommandRecord } from "#core/model/command-record.ts";
import { type MachineParts, NOW, nodePool, pdb, pod, type Scene, snapshot } from "../builders.ts";

function view(scene: Scene, more: { commands?: readonly CommandRecord[]; nominatedUntil?: ReadonlyMap<string, number> } = {}) {
  return viewCluster({ snapshot: snapshot(scene), records: [], commands: more.commands ?? [], now: NOW, ...more });
}

it.for<{ name: string; parts: Partial<MachineParts>; want: string }>([
  { name: "without a Node object", parts: { noNode: true }, want: "Nodeclaim does not have an associated node" },
  { name: "not initialized", parts: { initialized: false }, want: "Node isn't initialized" },
  { name: "deleting", parts: { deletionTimestamp: "2026-01-01T11:59:00Z" }, want: "Node is deleting or marked for deletion" },
  {
    name: "annotated do-not-disrupt",
    parts: { annotations: { "karpenter.sh/do-not-disrupt": "true" } },
    want: 'Disruption is blocked through the "karpenter.sh/do-not-disrupt" annotation',
  },
  {
    name: "without a NodePool label",
    parts: { without: ["karpenter.sh/nodepool"] },
    want: "Node doesn't have required label (Label=karpenter.sh/nodepool)",
  },
  { name: "of a NodePool that does not exist", parts: { pool: "gone" }, want: "NodePool not found (NodePool=gone)" },
])("a node that is $name is no candidate", ({ parts, want }) => {
  const { all, blocked } = findCandidates(view({ machines: [{ name: "n", ...parts }] }));
  expect(all).toEqual([]);
  expect(blocked.map((node) => describeBlocked(node.blocked))).toEqual([want]);
});

it("a do-not-disrupt duration on a node does not count", () => {
  const { all } = findCandidates(view({ machines: [{ name: "n", annotations: { "karpenter.sh/do-not-disrupt": "1h" } }] }));
  expect(all).toHaveLength(1);
});

it("a nominated node is no candidate until the nomination ends", () => {
  const scene = { machines: [{ name: "n" }] };
  expect(findCandidates(view(scene, { nominatedUntil: new Map([["n", NOW + 1]]) })).blocked[0]?.blocked).toEqual({
    reason: "Nominated",
    until: NOW + 1,
  });
  expect(findCandidates(view(scene, { nominatedUntil: new Map([["n", NOW]]) })).all).toHaveLength(1);
});

it.for(["Replacing", "Deleting"] as const)("a node that a command counts on is no candidate while it is %s", (phase) => {
  const machines = ["going", "room", "new", "free"].map((name) => ({ name }));
  const command = {
    phase,
    candidates: [{ nodeClaim: "going-claim" }],
    destinations: { "default/p": "room-claim" },
    replacementClaims: ["new-claim"],
  } as unknown as CommandRecord;
  const { all, blocked } = findCandidates(view({ machines, pods: [pod("p", "going")] }, { commands: [command] }));
  expect(all.map(({ node }) => node)).toEqual(["free"]);
  expect(Object.fromEntries(blocked.map((one) => [one.node, one.blocked.reason]))).toEqual({
    going: "InCommand",
    new: "Destination",
    room: "Destination",
  });
});

it("a node is free again when the command that counted on it is rolled back", () => {
  const command = { phase: "RollingBack", candidates: [], destinations: { "default/p": "n-claim" }, replacementClaims: [] };
  const { all } = findCandidates(view({ machines: [{ name: "n" }] }, { commands: [command as unknown as CommandRecord] }));
  expect(all).toHaveLength(1);
});

it("do-not-disrupt counts on DaemonSet pods, but not on finished pods", () => {
  const annotations = { "karpenter.sh/do-not-disrupt": "true" };
  const ownerReferences = [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "d" }];
  const held = (p: ReturnType<typeof pod>) => findCandidates(view({ machines: [{ name: "n" }], pods: [p] })).all[0]?.heldByPod;
  expect(held(pod("p", "n", { metadata: { annotations, ownerReferences } }))).toEqual({
    reason: "PodDoNotDisrupt",
    pod: "default/p",
    until: Number.POSITIVE_INFINITY,
  });
  expect(held(pod("p", "n", { metadata: { annotations }, status: { phase: "Succeeded" } }))).toBeUndefined();
});

it("PodDisruptionBudgets count for evictable pods only", () => {
  const tolerations = [{ operator: "Exists" as const }];
  const held = (p: ReturnType<typeof pod>, pdbs = [pdb("b")]) =>
    findCandidates(view({ machines: [{ name: "n" }], pods: [p], pdbs })).all[0]?.heldByPod;
  expect(held(pod("p", "n"))).toEqual({ reason: "Pdb", pod: "default/p", budgets: ["default/b"] });
  expect(held(pod("p", "n", { spec: { tolerations } }))).toBeUndefined();
  expect(held(pod("p", "n"), [pdb("b", 5), pdb("c", 5)])?.reason).toBe("SeveralPdbs");
});

it("a candidate has its price, its pods and its disruption cost", () => {
  const priority = 2 ** 25;
  const { all } = findCandidates(
    view({ machines: [{ name: "n", type: "medium" }], pods: [pod("p", "n"), pod("q", "n", { spec: { priority } }), pod("r")] }),
  );
  expect(all[0]).toMatchObject({ pricePerHour: 0.2, disruptionCost: 1 + 1 + 2, node: "n", nodeClaim: "n-claim" });
  expect(all[0]?.moving).toHaveLength(2);
});

it("a candidate of an unknown offering has price 0", () => {
  expect(findCandidates(view({ machines: [{ name: "n", type: "unheard-of" }] })).all[0]?.pricePerHour).toBe(0);
});

it("a NodePool without instance types has no candidates", () => {
  const { blocked } = findCandidates(view({ pools: [nodePool()], types: [], machines: [{ name: "n" }] }));
  expect(blocked[0]?.blocked.reason).toBe("NodePoolNotFound");
});
