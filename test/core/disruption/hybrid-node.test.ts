import { expect, it } from "vitest";
import { poolBudgets } from "#core/disruption/cluster/budget.ts";
import { findCandidates } from "#core/disruption/cluster/candidate.ts";
import { viewCluster } from "#core/disruption/cluster/view.ts";
import { simulateWithSolve } from "#core/disruption/consolidation/simulate.ts";
import { emptiness } from "#core/disruption/methods/emptiness.ts";
import { singleNode } from "#core/disruption/methods/single-node.ts";
import type { Pod } from "#core/model/pod.ts";
import { node } from "../../support/objects.ts";
import { NOW, nodePool, pod, snapshot } from "./builders.ts";

/** A machine of a data centre that has joined as a hybrid node of EKS: it has no NodeClaim. */
const hybrid = node("mi-0123456789abcdef0", {
  providerID: "eks-hybrid:///us-west-2/c1/mi-0123456789abcdef0",
  labels: { "eks.amazonaws.com/compute-type": "hybrid", "kubernetes.io/hostname": "mi-0123456789abcdef0" },
  resources: { cpu: "4", memory: "8Gi", pods: "50" },
});

function decide(pods: readonly Pod[], hybrids: readonly (typeof hybrid)[]) {
  const own = snapshot({ pools: [nodePool()], machines: [{ name: "a" }], pods });
  const view = viewCluster({ snapshot: { ...own, nodes: [...own.nodes, ...hybrids] }, records: [], commands: [], now: NOW });
  const { all } = findCandidates(view);
  const budgets = (reason: "Empty" | "Underutilized") => poolBudgets(view, reason);
  return {
    candidates: all.map((candidate) => candidate.node),
    empty: emptiness(all, budgets("Empty"), NOW).found?.candidates.map((one) => one.node) ?? [],
    single: singleNode({ view, simulate: simulateWithSolve, settings: { cluster: "c" } }, all, budgets("Underutilized")).found,
  };
}

it("a hybrid node is room for pods of a node that is removed, and without it the node stays", () => {
  const { single } = decide([pod("p", "a")], [hybrid]);
  expect({ nodes: single?.candidates.map((one) => one.node), replacements: single?.replacements }).toEqual({
    nodes: ["a"],
    replacements: [],
  });
  expect(decide([pod("p", "a")], []).single?.replacements).not.toEqual([]);
});

it("a hybrid node without pods is not disrupted", () => {
  const { candidates, empty } = decide([], [hybrid]);
  expect({ candidates, empty }).toEqual({ candidates: ["a"], empty: ["a"] });
});
