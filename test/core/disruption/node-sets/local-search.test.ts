import { describe, expect, it } from "vitest";
import { scenarioToSnapshot } from "#cli/scenario/scenario.ts";
import { poolBudgets } from "#core/disruption/cluster/budget.ts";
import { type Candidate, findCandidates } from "#core/disruption/cluster/candidate.ts";
import { viewCluster } from "#core/disruption/cluster/view.ts";
import { isConsolidationCandidate } from "#core/disruption/consolidation/consolidation.ts";
import { trialFor } from "#core/disruption/consolidation/simulate.ts";
import { bestDeletableSet } from "#core/disruption/node-sets/deletable-set.ts";
import { improveNodeSet } from "#core/disruption/node-sets/local-search.ts";
import { bySavingsRatio, type NodeSetProblem } from "#core/disruption/node-sets/savings-potential.ts";
import { totalCost } from "#core/disruption/prices/cost.ts";
import { totalPrice } from "#core/disruption/prices/savings.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { makeConsolidationTrial } from "#core/scheduling/make-trial.ts";
import { underutilizedCluster } from "#test/conformance/clusters/cluster.ts";
import { pod, snapshot } from "../builders.ts";

function problemOf(cluster: Snapshot): NodeSetProblem {
  const view = viewCluster({ snapshot: cluster, records: [], commands: [], now: cluster.now });
  const candidates = findCandidates(view).all.filter((candidate) => isConsolidationCandidate(candidate, view.now));
  const trial = trialFor(view, candidates, makeConsolidationTrial);
  return { trial, potentials: bySavingsRatio(candidates, trial), budgets: poolBudgets(view, "Underutilized"), settings: { cluster: "c" } };
}

const rows = (["many-pools", "constrained", "mixed"] as const).map((name) => ({
  name,
  cluster: scenarioToSnapshot(underutilizedCluster({ kind: name, seed: 5, nodes: 10, families: 4 })),
}));

const namesOf = (candidates: readonly Candidate[]): readonly string[] => candidates.map(({ node }) => node);
const allowing = (nodes: number, problem: NodeSetProblem): NodeSetProblem => ({
  ...problem,
  budgets: new Map([...problem.budgets].map(([pool, budget]) => [pool, { ...budget, allowed: nodes }])),
});

function perPool(candidates: readonly Candidate[]): number {
  const counts = new Map<string, number>();
  for (const { nodePool } of candidates) counts.set(nodePool.metadata.name, (counts.get(nodePool.metadata.name) ?? 0) + 1);
  return Math.max(0, ...counts.values());
}

/** The same cluster with its objects in another order. */
const turned = (cluster: Snapshot): Snapshot => ({
  ...cluster,
  nodes: cluster.nodes.toReversed(),
  nodeClaims: cluster.nodeClaims.toReversed(),
  pods: cluster.pods.toReversed(),
});

describe.for(rows)("sets that the local search proposes in a cluster of kind $name", ({ cluster }) => {
  const problem = problemOf(cluster);
  const { trial } = problem;
  const start = bestDeletableSet(problem);
  const proposals = improveNodeSet(problem, start);

  it("save money, the best first, each once", () => {
    expect(proposals.length).toBeGreaterThan(0);
    expect(proposals.map(({ net }) => net)).toEqual(proposals.map(({ net }) => net).toSorted((a, b) => b - a));
    const keys = proposals.map(({ candidates }) => [...namesOf(candidates)].sort().join());
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("leave no pod unscheduled", () => {
    for (const { candidates } of proposals) expect(trial.trialCluster.costOfRemoving(namesOf(candidates)).unplaced).toEqual([]);
  });

  it("save more than the set at the start", () => {
    const { price, newNodes } = trial.trialCluster.costOfRemoving(namesOf(start));
    expect(newNodes).toBeLessThanOrEqual(start.length);
    expect(proposals[0]?.net).toBeGreaterThanOrEqual(totalPrice(start) - price);
  });

  it("fit the budgets of all NodePools", () => {
    for (const nodes of [0, 1, 2]) {
      const within = allowing(nodes, problem);
      const begun = bestDeletableSet(within);
      const sets = [begun, ...improveNodeSet(within, begun).map(({ candidates }) => candidates)];
      expect(Math.max(...sets.map(perPool))).toBeLessThanOrEqual(nodes);
    }
  });

  it("are the same in any order of the cluster's objects", () => {
    const other = problemOf(turned(cluster));
    const begun = bestDeletableSet(other);
    expect(namesOf(begun)).toEqual(namesOf(start));
    const published = (sets: typeof proposals) => sets.map(({ candidates, net }) => [net.toFixed(9), ...namesOf(candidates)]);
    expect(published(improveNodeSet(other, begun))).toEqual(published(proposals));
  });

  it("leave the trial cluster unchanged", () => {
    const before = namesOf(start);
    expect(namesOf(bestDeletableSet(problem))).toEqual(before);
  });
});

it("the local search proposes no set that leaves a pod unscheduled, however much it saves", () => {
  const only = { containers: [], nodeName: "a", nodeSelector: { disk: "ssd" } };
  const scene = snapshot({
    machines: ["a", "b", "c"].map((name) => ({ name, type: "huge" })),
    pods: [pod("odd", "a", { spec: only }), pod("q", "b"), pod("r", "c")],
  });
  const problem = problemOf(scene);
  const proposals = improveNodeSet(problem, []);
  expect(proposals.length).toBeGreaterThan(0);
  expect(proposals.flatMap(({ candidates }) => namesOf(candidates))).not.toContain("a");
});

describe.for(rows)("nodes that can be emptied together in a cluster of kind $name", ({ cluster }) => {
  const problem = problemOf(cluster);
  const { trial } = problem;
  const emptied = namesOf(bestDeletableSet(problem));

  it("need no replacement", () => {
    const checkpoint = trial.trialCluster.checkpoint;
    const isLawful = emptied.every((name) => trial.trialCluster.tryEmpty(name)) || trial.trialCluster.tryEmptyTogether(emptied);
    trial.trialCluster.revertTo(checkpoint);
    expect(isLawful).toBe(true);
  });

  it("save more than their disruption cost within the horizon", () => {
    const expensive = { ...problem.settings, podMoveCost: 1000, horizonMs: 3_600_000 };
    expect(bestDeletableSet({ ...problem, settings: expensive })).toEqual([]);
  });
});

it("candidates are sorted by savings ratio, highest first", () => {
  for (const { cluster } of rows) {
    const { potentials } = problemOf(cluster);
    const perPod = potentials.map(({ candidate, potential }) => potential / candidate.disruptionCost);
    expect(perPod).toEqual(perPod.toSorted((a, b) => b - a));
    for (const { candidate, potential } of potentials) expect(potential).toBeLessThanOrEqual(totalCost([candidate]));
  }
});
