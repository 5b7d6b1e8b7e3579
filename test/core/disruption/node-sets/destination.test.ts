import { describe, expect, it } from "vitest";
import { scenarioToSnapshot } from "#cli/scenario/scenario.ts";
import { poolBudgets } from "#core/disruption/cluster/budget.ts";
import { findCandidates } from "#core/disruption/cluster/candidate.ts";
import { viewCluster } from "#core/disruption/cluster/view.ts";
import { isConsolidationCandidate } from "#core/disruption/consolidation/consolidation.ts";
import { simulateWithSolve, trialFor } from "#core/disruption/consolidation/simulate.ts";
import { destinationOf } from "#core/disruption/node-sets/destination.ts";
import { type Step, stepTowardDestination } from "#core/disruption/node-sets/toward-destination.ts";
import type { DisruptionSettings } from "#core/disruption/settings.ts";
import type { InstanceType } from "#core/model/instance-type.ts";
import type { Pod } from "#core/model/pod.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { makeConsolidationTrial } from "#core/scheduling/make-trial.ts";
import { underutilizedCluster } from "#test/conformance/clusters/cluster.ts";
import { replay } from "#test/conformance/clusters/replay.ts";
import { ourTrail } from "#test/conformance/clusters/trail.ts";
import { RESTING_SEEDS } from "#test/support/effort.ts";
import { instanceType, nodePool, pod, snapshot } from "../builders.ts";

const DAY_MS = 86_400_000;
const ON_DEMAND = { key: "karpenter.sh/capacity-type", operator: "In" as const, values: ["on-demand"] };

/** The only NodePool, with on-demand capacity; `nodes`: its budget. */
function pools(nodes = "100%") {
  const made = nodePool("default", { budgets: [{ nodes }] });
  return [{ ...made, spec: { ...made.spec, template: { spec: { ...made.spec.template.spec, requirements: [ON_DEMAND] } } } }];
}

function sized(name: string, price: number): InstanceType {
  return { ...instanceType(name, price), capacity: { cpu: "4", memory: "64Gi", pods: "50" } };
}

/** Nodes of 4 cpu. New ones cost $0.40 an hour, as "cheap" does; "near" costs 4 %, "far" 12 %, "dear" 100 % more. */
const TYPES = [sized("cheap", 0.4), sized("near", 0.416), sized("far", 0.448), sized("dear", 0.8)];

const cores = (name: string, node: string, cpu: string, metadata: Partial<Pod["metadata"]> = {}): Pod =>
  pod(name, node, { metadata, spec: { containers: [{ name: "main", resources: { requests: { cpu } } }], nodeName: node } });

/** Nodes by name with their type and the cpu of each of their pods. */
type Nodes = Readonly<Record<string, readonly [type: string, ...pods: string[]]>>;

function cluster(nodes: Nodes, budget?: string): Snapshot {
  return snapshot({
    pools: pools(budget),
    types: TYPES,
    machines: Object.entries(nodes).map(([name, [type]]) => ({ name, type })),
    pods: Object.entries(nodes).flatMap(([name, [, ...pods]]) => pods.map((cpu, i) => cores(`${name}-${i}`, name, cpu))),
  });
}

function laidOut(start: Snapshot) {
  const view = viewCluster({ snapshot: start, records: [], commands: [], now: start.now, settings: { horizonMs: DAY_MS } });
  const candidates = findCandidates(view).all.filter((candidate) => isConsolidationCandidate(candidate, view.now));
  const context = { view, settings: { cluster: "c", horizonMs: DAY_MS }, simulate: simulateWithSolve };
  return { view, candidates, context, trial: trialFor(view, candidates, makeConsolidationTrial) };
}

function going(start: Snapshot): readonly string[] | undefined {
  const { context, candidates, trial } = laidOut(start);
  return destinationOf(context, candidates, trial)?.go.map(({ node }) => node);
}

function step(start: Snapshot, settings: Partial<DisruptionSettings> = {}): Step {
  const { context, view, candidates, trial } = laidOut(start);
  const changed = { ...context, settings: { ...context.settings, ...settings } };
  return stepTowardDestination(changed, candidates, poolBudgets(view, "Underutilized"), trial, () => false);
}

describe("the nodes that go, measured at a fresh plan of the whole cluster,", () => {
  it.for<{ readonly name: string; readonly nodes: Nodes; readonly want: readonly string[] }>([
    { name: "are none when each node is full and costs what a new one costs", nodes: { a: ["cheap", "3"], b: ["cheap", "3"] }, want: [] },
    { name: "are those that cost more than a new node in their place", nodes: { a: ["cheap", "3"], b: ["dear", "3"] }, want: ["b"] },
    { name: "are not those that cost a little more than a new node", nodes: { a: ["cheap", "3"], b: ["near", "3"] }, want: [] },
    { name: "are those that cost a tenth more than a new node", nodes: { a: ["cheap", "3"], b: ["far", "3"] }, want: ["b"] },
    {
      name: "are those with the fewest pods of equal nodes that together have more room than the pods need",
      nodes: { a: ["cheap", "1", "500m"], b: ["cheap", "1"], c: ["cheap", "1"] },
      want: ["b", "c"],
    },
  ])("$name", ({ nodes, want }) => {
    expect(going(cluster(nodes))).toEqual(want);
  });

  it("are not those whose pods no new node could take", () => {
    const start = cluster({ a: ["dear", "1"], b: ["dear", "1"] });
    const bound = { ...cores("bound", "a", "1"), spec: { ...cores("bound", "a", "1").spec, nodeSelector: { disk: "here" } } };
    expect(going({ ...start, pods: [...start.pods, bound] })).toEqual(["b"]);
  });

  it("are not kept by room that the pods of a new node may not use", () => {
    const start = cluster({ a: ["cheap"], b: ["dear", "4"] });
    const [node, ...others] = start.nodes;
    if (node === undefined) throw new Error("the cluster has nodes");
    const tainted = { ...node, spec: { ...node.spec, taints: [{ key: "own", effect: "NoSchedule" as const }] } };
    const own = { ...cores("own", "a", "1"), spec: { ...cores("own", "a", "1").spec, tolerations: [{ operator: "Exists" as const }] } };
    expect(going({ ...start, nodes: [tainted, ...others], pods: [...start.pods, own] })).toEqual(["b"]);
  });
});

describe("a step toward the destination", () => {
  const dear = cluster({ a: ["dear", "1"], b: ["dear", "1"], c: ["dear", "1"], d: ["cheap", "1"] }, "1");

  it("removes as many of the nodes that go as the budget allows", () => {
    const { trials, arrives } = step(dear);
    expect(trials.best?.candidates.map(({ node }) => node)).toEqual(["a"]);
    expect(arrives).toBe(false);
  });

  it("moves no pod to a node that goes later", () => {
    expect(step(dear).trials.best?.destinations).toEqual({ "default/a-0": "d-claim" });
  });

  it("arrives where the budget allows all of them", () => {
    const { trials, arrives } = step(cluster({ a: ["dear", "1"], b: ["dear", "1"], d: ["cheap", "1"] }));
    expect(trials.best?.candidates.map(({ node }) => node)).toEqual(["a", "b"]);
    expect(arrives).toBe(true);
  });

  it("is not tried when moving the pods costs more than arriving saves", () => {
    const start = cluster({ a: ["cheap", "3"], b: ["dear", "3"] });
    expect(step(start).trials.tried).toHaveLength(1);
    expect(step(start, { podMoveCost: 10 }).trials.tried).toEqual([]);
  });
});

it("underutilized clusters come to rest in small steps, and few of their pods move twice", () => {
  const accounts = RESTING_SEEDS.map((seed) => {
    const scenario = underutilizedCluster({ kind: "quarter-full", seed, nodes: 160, pods: 640, families: 6 });
    const nodePools = scenario.nodePools.map((own) => ({ ...own, spec: { ...own.spec, disruption: { budgets: [{ nodes: "20%" }] } } }));
    return replay({ ...scenario, nodePools }, ourTrail(scenarioToSnapshot({ ...scenario, nodePools })));
  });
  const sum = (of: (account: (typeof accounts)[number]) => number): number => accounts.reduce((total, account) => total + of(account), 0);
  expect(accounts.flatMap(({ broken }) => broken)).toEqual([]);
  expect(sum(({ podsMovedTwice }) => podsMovedTwice) / sum(({ pods }) => pods)).toBeLessThan(0.12);
});
