import { describe, expect, it } from "vitest";
import { scenarioToSnapshot } from "#cli/scenario/scenario.ts";
import { poolBudgets } from "#core/disruption/cluster/budget.ts";
import { findCandidates } from "#core/disruption/cluster/candidate.ts";
import type { Simulate } from "#core/disruption/cluster/simulation.ts";
import { viewCluster } from "#core/disruption/cluster/view.ts";
import { isConsolidationCandidate } from "#core/disruption/consolidation/consolidation.ts";
import type { Decision } from "#core/disruption/consolidation/decision.ts";
import { simulateWithSolve, trialFor } from "#core/disruption/consolidation/simulate.ts";
import { findNodeSet } from "#core/disruption/node-sets/node-set-search.ts";
import { planDisruption } from "#core/disruption/plan.ts";
import { describeBlocked } from "#core/disruption/reports/wording.ts";
import type { DisruptionSettings } from "#core/disruption/settings.ts";
import type { InstanceType } from "#core/model/instance-type.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import type { Pod } from "#core/model/pod.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { makeConsolidationTrial } from "#core/scheduling/make-trial.ts";
import { underutilizedCluster } from "#test/conformance/clusters/cluster.ts";
import { CLUSTER_KINDS, type ClusterKindName } from "#test/conformance/clusters/kinds.ts";
import { replay } from "#test/conformance/clusters/replay.ts";
import { ourTrail } from "#test/conformance/clusters/trail.ts";
import { WITH_SOLVE } from "#test/support/disruption/with-solve.ts";
import { instanceType, nodePool, pdb, pod, type Scene, snapshot } from "../builders.ts";

interface Options {
  readonly settings?: Partial<DisruptionSettings>;
  readonly simulate?: Simulate;
  readonly outOfTime?: () => boolean;
}

function choose(start: Snapshot, { settings = {}, simulate = simulateWithSolve, outOfTime }: Options = {}): Decision {
  const view = viewCluster({ snapshot: start, records: [], commands: [], now: start.now });
  const { all } = findCandidates(view);
  const movable = all.filter((candidate) => isConsolidationCandidate(candidate, view.now));
  const trial = trialFor(view, movable, makeConsolidationTrial);
  const context = { view, settings: { cluster: "c", ...settings }, simulate, trial: () => trial };
  return findNodeSet(context, all, poolBudgets(view, "Underutilized"), outOfTime);
}

const removedBy = ({ found }: Decision): readonly string[] => (found?.candidates ?? []).map(({ node }) => node).sort();
const typesOf = ({ found }: Decision): readonly (readonly string[])[] =>
  (found?.replacements ?? []).map(({ instanceTypes }) => instanceTypes);

const requirement = (key: string, values: readonly string[]) => ({ key, operator: "In" as const, values });
const ON_DEMAND = requirement("karpenter.sh/capacity-type", ["on-demand"]);

/** A NodePool with on-demand capacity only. */
function pool(name = "default", disruption: Parameters<typeof nodePool>[1] = {}): NodePool {
  const made = nodePool(name, disruption);
  return { ...made, spec: { ...made.spec, template: { spec: { ...made.spec.template.spec, requirements: [ON_DEMAND] } } } };
}

function sized(name: string, cpu: string, price: number): InstanceType {
  return { ...instanceType(name, price), capacity: { cpu, memory: "64Gi", pods: "50" } };
}

/** Existing nodes have 4 cpu. A large node costs $0.80 an hour; a new small node has 2 cpu and costs $0.10. */
const TYPES = [sized("small", "2", 0.1), sized("large", "4", 0.8)];

function cores(name: string, node: string, cpu: string, metadata: Pod["metadata"] | object = {}): Pod {
  return pod(name, node, { metadata, spec: { containers: [{ name: "main", resources: { requests: { cpu } } }], nodeName: node } });
}

const scene = (parts: Scene): Snapshot => snapshot({ pools: [pool()], types: TYPES, ...parts });
const large = (name: string, more: object = {}) => ({ name, type: "large", ...more });

describe("the nodes that are removed together", () => {
  it.for([
    { nodes: 30, where: "wherever there is room, in a cluster of up to 30 nodes", only: undefined },
    { nodes: 31, where: "only to nodes that stay and to new nodes, in a larger cluster", only: true },
  ])("move their pods $where", ({ nodes, only }) => {
    const names = Array.from({ length: nodes }, (_, i) => `n${i}`);
    const { found } = choose(
      scene({
        pools: [pool("default", { budgets: [{ nodes: "1" }] })],
        machines: names.map((name) => large(name)),
        pods: names.map((name) => cores(`${name}-pod`, name, "1500m")),
      }),
    );
    expect(found?.candidates).toHaveLength(1);
    expect(found?.onlyDestinations).toBe(only);
  });

  it("are replaced by several nodes that cost less", () => {
    const decision = choose(
      scene({
        machines: [large("a"), large("b")],
        pods: [cores("p", "a", "1500m"), cores("q", "a", "1500m"), cores("r", "b", "1500m"), cores("s", "b", "1500m")],
      }),
    );
    expect(removedBy(decision)).toEqual(["a", "b"]);
    expect(typesOf(decision)).toEqual([["small"], ["small"], ["small"], ["small"]]);
  });

  it("are replaced by more nodes only where each additional node saves two cents an hour", () => {
    const splitAt = (price: number) =>
      typesOf(
        choose(
          scene({
            types: [sized("tiny", "1", price), sized("large", "4", 0.8)],
            machines: [large("a")],
            pods: ["p", "q", "r"].map((name) => cores(name, "a", "1")),
          }),
        ),
      );
    expect(splitAt(0.25)).toEqual([["tiny"], ["tiny"], ["tiny"]]);
    expect(splitAt(0.26)).toEqual([]);
  });

  it("are of all NodePools", () => {
    const decision = choose(
      scene({
        pools: [pool("x"), pool("y")],
        types: [sized("large", "4", 0.8)],
        machines: [large("a", { pool: "x" }), large("b", { pool: "y" }), large("c", { pool: "x" })],
        pods: [cores("p", "a", "1"), cores("q", "b", "1"), cores("r", "c", "2")],
      }),
    );
    expect(removedBy(decision)).toEqual(["a", "b"]);
    expect(typesOf(decision)).toEqual([]);
  });

  it("are, of equal nodes, those with the fewest pods", () => {
    const decision = choose(
      scene({
        types: [sized("large", "4", 0.8)],
        machines: ["a", "b"].map((name) => large(name)),
        pods: [cores("p", "a", "500m"), cores("q", "a", "500m"), cores("r", "b", "1500m")],
      }),
    );
    expect(removedBy(decision)).toEqual(["b"]);
  });
});

it("a budget of one node goes to the node that saves most, however many pods it has", () => {
  const types = [...TYPES, sized("huge", "4", 3.2)];
  const held = { annotations: { "karpenter.sh/do-not-disrupt": "true" } };
  const staying = Array.from({ length: 30 }, (_, i) => `n${i}`);
  const decision = choose(
    scene({
      types,
      pools: [pool("default", { budgets: [{ nodes: "1" }] })],
      machines: [large("few-pods"), { name: "dear", type: "huge" }, ...staying.map((name) => large(name, held))],
      pods: [
        cores("one", "few-pods", "100m"),
        ...Array.from({ length: 15 }, (_, i) => cores(`many-${i}`, "dear", "100m")),
        ...staying.map((name) => cores(`${name}-pod`, name, "3")),
      ],
    }),
  );
  expect(removedBy(decision)).toEqual(["dear"]);
});

describe("the nodes that stay", () => {
  /** Two large nodes: the pod of each fits on the other. */
  const pair = (more: Scene & { readonly a?: object; readonly b?: object } = {}): Snapshot =>
    scene({
      types: [sized("large", "4", 0.8)],
      machines: [large("a", more.a), large("b", more.b)],
      pods: [cores("p", "a", "1"), cores("q", "b", "2", { labels: { app: "held" } })],
      ...more,
    });
  const HELD = { annotations: { "karpenter.sh/do-not-disrupt": "true" } };

  it.for<{ readonly name: string; readonly start: Snapshot; readonly want: readonly string[] }>([
    { name: "none that could be removed", start: pair(), want: ["a"] },
    { name: "a node annotated do-not-disrupt", start: pair({ a: HELD }), want: ["b"] },
    { name: "both nodes when both are annotated", start: pair({ a: HELD, b: HELD }), want: [] },
    { name: "a node with an annotated pod", start: pair({ pods: [cores("p", "a", "1", HELD), cores("q", "b", "2")] }), want: ["b"] },
    { name: "nodes with pods that a PodDisruptionBudget holds", start: pair({ pdbs: [pdb("all")] }), want: ["b"] },
    { name: "nodes of a pool whose budget is spent", start: pair({ pools: [pool("default", { budgets: [{ nodes: "0" }] })] }), want: [] },
    {
      name: "nodes of a pool with consolidation disabled",
      start: pair({ pools: [pool("default", { consolidateAfter: "Never" })] }),
      want: [],
    },
    { name: "nodes inside consolidateAfter", start: pair({ pools: [pool("default", { consolidateAfter: "37h" })] }), want: [] },
  ])("are $name", ({ start, want }) => {
    expect(removedBy(choose(start))).toEqual(want);
  });

  it("receive no pod inside consolidateAfter or before they are initialized", () => {
    const pools = [pool(), pool("slow", { consolidateAfter: "37h" })];
    expect(removedBy(choose(pair({ pools, b: { pool: "slow" } })))).toEqual([]);
    expect(removedBy(choose(pair({ b: { initialized: false } })))).toEqual([]);
  });

  it("follow from the budget of each NodePool, which their reason names", () => {
    const names = ["a", "b", "c", "d", "e", "f"];
    const decision = choose(
      scene({
        pools: [pool("x", { budgets: [{ nodes: "1" }] }), pool("y", { budgets: [{ nodes: "50%" }] })],
        types: [sized("large", "4", 0.8)],
        machines: names.map((name, i) => large(name, { pool: i < 3 ? "x" : "y" })),
        pods: names.map((name) => cores(`p-${name}`, name, "500m")),
      }),
    );
    expect(removedBy(decision).filter((name) => name < "d")).toHaveLength(1);
    expect(removedBy(decision).filter((name) => name >= "d")).toHaveLength(2);
    expect(new Set(decision.blocked.map(({ blocked }) => describeBlocked(blocked)))).toEqual(
      new Set(
        ["x", "y"].map((name) => `No allowed disruptions for disruption reason Underutilized due to blocking budget (NodePool=${name})`),
      ),
    );
    expect(decision.blocked.map(({ node }) => node).sort()).toEqual(names.filter((name) => !removedBy(decision).includes(name)));
  });

  it("include spot nodes that only spot could replace, unless SpotToSpotConsolidation is on", () => {
    const start = snapshot({
      pools: [nodePool()],
      types: [sized("small", "2", 0.1), sized("large", "4", 0.8)],
      machines: ["a", "b"].map((name) => large(name, { capacityType: "spot" })),
      pods: ["a", "b"].flatMap((name) => [cores(`p-${name}`, name, "1500m"), cores(`q-${name}`, name, "1500m")]),
    });
    const off = choose(start);
    expect(removedBy(off)).toEqual([]);
    expect(off.tried?.map(({ why }) => why?.reason)).toContain("SpotToSpotDisabled");
    expect(removedBy(choose(start, { settings: { spotToSpotConsolidation: true } }))).toEqual(["a", "b"]);
  });
});

describe("a search for a set of nodes", () => {
  const start = scene({
    machines: [large("a"), large("b")],
    pods: [cores("p", "a", "1500m"), cores("r", "b", "1500m")],
  });

  it("lists every set that it tried, one of them chosen", () => {
    const { tried = [], found } = choose(start);
    const chosen = tried.filter(({ verdict }) => verdict === "chosen");
    expect(chosen).toHaveLength(1);
    expect([...(chosen[0]?.nodes ?? [])].sort()).toEqual(found?.candidates.map(({ node }) => node).sort());
    expect(chosen[0]?.savesPerHour).toBe(Math.max(...tried.map(({ savesPerHour }) => savesPerHour)));
  });

  it("does not simulate when its time is up", () => {
    let asked = 0;
    const simulate: Simulate = (...question) => {
      asked++;
      return simulateWithSolve(...question);
    };
    expect(choose(start, { simulate, outOfTime: () => true }).found).toBeUndefined();
    expect(asked).toBe(0);
  });

  it("makes no trial cluster without candidates", () => {
    expect(choose(scene({ machines: [large("a")] }))).toEqual({ blocked: [], eligible: 0 });
  });

  it("takes no set that the scheduler does not confirm, whatever the trial cluster shows", () => {
    const full: Simulate = () => ({ newNodeClaims: [], existingNodes: [], podErrors: { "default/p": "full", "default/r": "full" } });
    const { found, tried = [] } = choose(start, { simulate: full });
    expect(found).toBeUndefined();
    expect(tried.length).toBeGreaterThan(0);
    expect(new Set(tried.map(({ why }) => why?.reason))).toEqual(new Set(["PodsUnplaced"]));
  });

  it("keeps a node instead of replacing it by one of its type and capacity type", () => {
    // Without both nodes, the plan is a small and a medium node again.
    const { found } = choose(
      scene({
        types: [...TYPES, sized("medium", "4", 0.3)],
        machines: [large("a"), { name: "b", type: "medium" }],
        pods: [cores("p", "a", "1500m"), cores("r", "b", "3")],
      }),
    );
    expect(found?.candidates.map(({ node }) => node)).toEqual(["a"]);
    expect(found?.replacements.map(({ instanceTypes }) => instanceTypes[0])).toEqual(["small"]);
  });
});

/** Checkers that share no code with the product judge the commands on generated clusters. */
describe.for(Object.keys(CLUSTER_KINDS) as ClusterKindName[])("a small underutilized cluster of kind %s", (kind) => {
  const scenario = underutilizedCluster({ kind, seed: 11, nodes: 6, families: 3 });
  const start = scenarioToSnapshot(scenario);
  const trail = ourTrail(start);

  it("breaks no rule, saves with every command, and settles", () => {
    expect(trail.idleMs).toBeDefined();
    const { broken, before, after } = replay(scenario, trail);
    expect(broken).toEqual([]);
    expect(after).toBeLessThan(before);
  });

  it("gets more nodes only where each additional node saves two cents an hour", () => {
    for (const { candidates, replacements, savings } of trail.passes) {
      const more = Math.max(0, replacements.length - candidates.length);
      expect(savings).toBeGreaterThan(0.02 * more);
    }
  });

  it("keeps the nodes that consolidation launched", () => {
    const bought = new Set<string>();
    let bounced = 0;
    for (const { candidates, nodes } of trail.passes) {
      for (const name of candidates) if (bought.has(name)) bounced++;
      for (const { metadata } of nodes) bought.add(metadata.name);
    }
    expect(bounced).toBe(0);
  });

  it("gets the same command in any order of its objects", () => {
    const decide = (published: Snapshot) =>
      planDisruption({
        snapshot: published,
        records: [],
        commands: [],
        settings: { cluster: "scenario" },
        now: published.now,
        ...WITH_SOLVE,
        newId: () => "id",
      }).command;
    const turned: Snapshot = {
      ...start,
      nodePools: start.nodePools.toReversed(),
      nodes: start.nodes.toReversed(),
      nodeClaims: start.nodeClaims.toReversed(),
      pods: start.pods.toReversed(),
      podDisruptionBudgets: start.podDisruptionBudgets.toReversed(),
    };
    expect(decide(turned)).toEqual(decide(start));
  });
});
