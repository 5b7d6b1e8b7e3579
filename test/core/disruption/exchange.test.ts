import { describe, expect, it } from "vitest";
import { type PoolBudget, poolBudgets } from "../../../core/disruption/budget.ts";
import { type Candidate, findCandidates } from "../../../core/disruption/candidate.ts";
import { isConsolidationCandidate, totalPrice } from "../../../core/disruption/consolidation.ts";
import { bestEmptied } from "../../../core/disruption/emptying.ts";
import { exchanged, MORE_NODES } from "../../../core/disruption/exchange.ts";
import type { DisruptionSettings } from "../../../core/disruption/settings.ts";
import { sketchFor } from "../../../core/disruption/simulate.ts";
import { viewCluster } from "../../../core/disruption/view.ts";
import { type Wasteful, wastefulFirst } from "../../../core/disruption/waste.ts";
import type { Snapshot } from "../../../core/model/snapshot.ts";
import { type Sketch, sketchOf } from "../../../core/scheduling/sketch.ts";
import { scenarioToSnapshot } from "../../../functions/cli/scenario.ts";
import { underutilizedCluster } from "../../conformance/clusters/cluster.ts";

interface Stage {
  readonly sketch: Sketch;
  readonly wasteful: readonly Wasteful[];
  readonly budgets: ReadonlyMap<string, PoolBudget>;
}

function stage(snapshot: Snapshot): Stage {
  const view = viewCluster({ snapshot, records: [], commands: [], now: snapshot.now });
  const candidates = findCandidates(view).all.filter((candidate) => isConsolidationCandidate(candidate, view.now));
  const sketch = sketchFor(view, candidates, sketchOf);
  return { sketch, wasteful: wastefulFirst(candidates, sketch), budgets: poolBudgets(view, "Underutilized") };
}

const SETTINGS: DisruptionSettings = { cluster: "c" };
const CLUSTERS = (["many-pools", "constrained", "mixed"] as const).map((kind) =>
  scenarioToSnapshot(underutilizedCluster({ kind, seed: 5, nodes: 10, families: 4 })),
);
const rows = CLUSTERS.map((snapshot, i) => ({ name: ["many-pools", "constrained", "mixed"][i], snapshot }));

const namesOf = (candidates: readonly Candidate[]): readonly string[] => candidates.map(({ node }) => node);
const allowing = (nodes: number, { budgets }: Stage): ReadonlyMap<string, PoolBudget> =>
  new Map([...budgets].map(([pool, budget]) => [pool, { ...budget, allowed: nodes }]));

function perPool(candidates: readonly Candidate[]): number {
  const counts = new Map<string, number>();
  for (const { nodePool } of candidates) counts.set(nodePool.metadata.name, (counts.get(nodePool.metadata.name) ?? 0) + 1);
  return Math.max(0, ...counts.values());
}

/** The same cluster as another read may tell it. */
const turned = (snapshot: Snapshot): Snapshot => ({
  ...snapshot,
  nodes: snapshot.nodes.toReversed(),
  nodeClaims: snapshot.nodeClaims.toReversed(),
  pods: snapshot.pods.toReversed(),
});

describe.for(rows)("sets that exchange proposes in a cluster of kind $name", ({ snapshot }) => {
  const scene = stage(snapshot);
  const { sketch, wasteful, budgets } = scene;
  const start = bestEmptied(sketch, wasteful, budgets, SETTINGS);
  const proposals = exchanged(sketch, start, wasteful, budgets, SETTINGS);

  it("are worth trying, the best first, each once", () => {
    expect(proposals.length).toBeGreaterThan(0);
    expect(proposals.map(({ net }) => net)).toEqual(proposals.map(({ net }) => net).toSorted((a, b) => b - a));
    const keys = proposals.map(({ candidates }) => [...namesOf(candidates)].sort().join());
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("leave no pod without a place, and bring at most two nodes more than they take", () => {
    for (const { candidates } of proposals) {
      const { homeless, newNodes } = sketch.rearrangement.without(namesOf(candidates));
      expect(homeless).toEqual([]);
      expect(newNodes).toBeLessThanOrEqual(candidates.length + MORE_NODES);
    }
  });

  it("better what they start from", () => {
    const { price } = sketch.rearrangement.without(namesOf(start));
    expect(proposals[0]?.net).toBeGreaterThanOrEqual(totalPrice(start) - price);
  });

  it("keep to the budgets of all pools", () => {
    for (const nodes of [0, 1, 2]) {
      const within = allowing(nodes, scene);
      const begun = bestEmptied(sketch, wasteful, within, SETTINGS);
      const sets = [begun, ...exchanged(sketch, begun, wasteful, within, SETTINGS).map(({ candidates }) => candidates)];
      expect(Math.max(...sets.map(perPool))).toBeLessThanOrEqual(nodes);
    }
  });

  it("are the same in whatever order the cluster is told", () => {
    const other = stage(turned(snapshot));
    const begun = bestEmptied(other.sketch, other.wasteful, other.budgets, SETTINGS);
    expect(namesOf(begun)).toEqual(namesOf(start));
    const told = (sets: typeof proposals) => sets.map(({ candidates, net }) => [net.toFixed(9), ...namesOf(candidates)]);
    expect(told(exchanged(other.sketch, begun, other.wasteful, other.budgets, SETTINGS))).toEqual(told(proposals));
  });

  it("leave the sketch as it was", () => {
    const before = namesOf(start);
    expect(namesOf(bestEmptied(sketch, wasteful, budgets, SETTINGS))).toEqual(before);
  });
});

describe.for(rows)("nodes that can be emptied together in a cluster of kind $name", ({ snapshot }) => {
  const { sketch, wasteful, budgets } = stage(snapshot);
  const emptied = namesOf(bestEmptied(sketch, wasteful, budgets, SETTINGS));

  it("need nothing in their place", () => {
    const mark = sketch.rearrangement.mark;
    const isLawful = emptied.every((name) => sketch.rearrangement.empty(name)) || sketch.rearrangement.emptyTogether(emptied);
    sketch.rearrangement.backTo(mark);
    expect(isLawful).toBe(true);
  });

  it("are not moved for less than moving counts as", () => {
    const dear = { ...SETTINGS, podMoveCost: 1000, horizonMs: 3_600_000 };
    expect(bestEmptied(sketch, wasteful, budgets, dear)).toEqual([]);
  });
});

it("tries what wastes most for each pod that must move first", () => {
  for (const { snapshot } of rows) {
    const { wasteful } = stage(snapshot);
    const perPod = wasteful.map(({ candidate, waste }) => waste / candidate.disruptionCost);
    expect(perPod).toEqual(perPod.toSorted((a, b) => b - a));
    for (const { candidate, waste } of wasteful) expect(waste).toBeLessThanOrEqual(candidate.pricePerHour);
  }
});
