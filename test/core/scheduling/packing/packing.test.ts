import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "#core/lib/fnv.ts";
import type { Plan } from "#core/model/plan.ts";
import { PRICE_TOLERANCE } from "#core/model/prices.ts";
import { nodeCost } from "#core/offerings/node-cost.ts";
import { Attempt } from "#core/scheduling/attempt.ts";
import { Packer } from "#core/scheduling/packing/packer.ts";
import { type NodeProposals, proposeNodes } from "#core/scheduling/packing/packing.ts";
import type { SchedulingProblem } from "#core/scheduling/problem/problem.ts";
import { TopologyState } from "#core/scheduling/problem/topology-state.ts";
import { solve } from "#core/scheduling/solve.ts";
import { settingOf } from "#test/bench/workloads.ts";
import { shuffled } from "#test/support/scheduling/arbitraries.ts";
import { CATALOGUE, instanceType, nodePool, planFor, pod, pods, type Scenario, scenario } from "#test/support/scheduling/builders.ts";
import { brokenRules } from "#test/support/scheduling/check-plan.ts";
import { planToJson, scenarioToSnapshot } from "#test/support/scheduling/scenario.ts";
import { onDemand, packingProblemFor, packingScenarios, problemFromParts, ZONE } from "./packing-builders.ts";

const NODE_COST = nodeCost(undefined, {});

function proposalFor(parts: Partial<Scenario>): { readonly problem: SchedulingProblem; readonly proposals: NodeProposals | undefined } {
  const problem = problemFromParts(parts);
  const left = problem.classes.map(({ pods: alike }) => alike.length);
  return { problem, proposals: proposeNodes(problem, left, new TopologyState(problem.groups)) };
}

const priceOf = (plan: Plan): number => plan.newNodeClaims.reduce((sum, { pricePerHour }) => sum + (pricePerHour ?? 0) + NODE_COST, 0);

describe("a proposal", () => {
  it("a proposal has a node for each pod, and no node without pods", () => {
    fc.assert(
      fc.property(packingScenarios, (cluster) => {
        const { problem, proposals } = proposalFor(cluster);
        const used = new Set<number>();
        proposals?.targets.forEach((targets, c) => {
          if (targets === undefined) return;
          expect(targets).toHaveLength(problem.classes[c]?.pods.length ?? -1);
          for (const target of targets) {
            expect(target).toBeGreaterThanOrEqual(0);
            used.add(target);
          }
        });
        expect([...used].sort((a, b) => a - b)).toEqual((proposals?.nodes ?? []).map((_, at) => at));
      }),
      { numRuns: 50, seed: 1 },
    );
  });

  it("a proposed node meets the requirements of each of its pods", () => {
    fc.assert(
      fc.property(packingScenarios, (cluster) => {
        const { problem, proposals } = proposalFor(cluster);
        proposals?.targets.forEach((targets, c) => {
          const podData = problem.relaxations[c]?.[0];
          for (const target of targets ?? []) {
            const node = proposals.nodes[target];
            // Requirements that a set has already do not change it when they are joined again.
            if (node !== undefined && podData !== undefined) expect(problem.sets.join(node.set, podData.set)).toBe(node.set);
          }
        });
      }),
      { numRuns: 50, seed: 2 },
    );
  });

  it("pods that may choose a zone share a node with pods that require another zone than the cheapest", () => {
    const labelSelector = { matchLabels: { app: "spread" } };
    const spread = [{ maxSkew: 1, topologyKey: ZONE, whenUnsatisfiable: "DoNotSchedule" as const, labelSelector }];
    const { proposals } = proposalFor({
      pods: [
        ...pods(1, "spread", { cpu: "1" }, { topologySpreadConstraints: spread }, { labels: { app: "spread" } }),
        ...pods(2, "pinned", { cpu: "1" }, { nodeSelector: { [ZONE]: "zone-b" } }),
      ],
      instanceTypes: [instanceType("m.medium", 4, 16, { offerings: [onDemand("zone-a", 0.1), onDemand("zone-b", 0.11)] })],
    });
    expect(proposals?.nodes).toHaveLength(1);
    expect(proposals?.isOptimal).toBe(false);
  });

  it("a proposal for few pods says that no other is cheaper", () => {
    expect(proposalFor({ pods: pods(7, "p", { cpu: "1" }) }).proposals?.isOptimal).toBe(true);
  });

  it("no proposal is made when packing leaves out every pod or no offering exists", () => {
    expect(proposalFor({ pods: [pod("p", {}, { containers: [{ name: "main", ports: [{ hostPort: 80 }] }] })] }).proposals).toBeUndefined();
    expect(proposalFor({ pods: pods(3, "p"), instanceTypes: [] }).proposals).toBeUndefined();
    expect(proposalFor({ pods: pods(3, "p"), nodePools: [] }).proposals).toBeUndefined();
    expect(proposalFor({ pods: [] }).proposals).toBeUndefined();
  });

  it("a proposal has no nodes when all offerings are free", () => {
    const free = instanceType("m.free", 4, 16, { offerings: [onDemand("zone-a", 0)] });
    const { proposals } = proposalFor({ pods: pods(9, "p"), instanceTypes: [free] });
    expect(proposals?.nodes).toEqual([]);
    expect([...(proposals?.targets[0] ?? [])]).toEqual(Array(9).fill(-1));
    expect(planFor({ pods: pods(9, "p"), instanceTypes: [free] }).podErrors).toEqual({});
  });
});

describe("an attempt with the strategy packed", () => {
  it("a packed attempt leaves no pod that an attempt by least added price places", () => {
    fc.assert(
      fc.property(packingScenarios, (cluster) => {
        const failedBy = (claims: "packed" | "least-added-price") => {
          const { failed } = new Attempt(problemFromParts(cluster), { claims, seed: 0 }).run();
          return [...failed].map(([index, left]) => [index, left.length]);
        };
        expect(failedBy("packed")).toEqual(failedBy("least-added-price"));
      }),
      { numRuns: 50, seed: 3 },
    );
  });

  it.for([
    { name: "limits", pool: { limits: { cpu: "20" } } },
    { name: "spent limits", pool: { limits: { cpu: "1" } } },
    {
      name: "minValues",
      pool: { requirements: [{ key: "karpenter.k8s.aws/instance-family", operator: "Exists" as const, minValues: 2 }] },
    },
  ])("a packed attempt places all pods under $name, and the plan breaks no rule", ({ pool }) => {
    const parts = scenario({
      nodePools: [nodePool("first", { weight: 5, ...pool }), nodePool("second")],
      pods: pods(30, "p", { cpu: "1500m" }),
    });
    expect(new Attempt(problemFromParts(parts), { claims: "packed", seed: 0 }).run().failed.size).toBe(0);
    expect(brokenRules(parts, planToJson(planFor(parts), 0))).toEqual([]);
  });
});

const INSTANCE_SIZES = new Set(["large", "xlarge", "2xlarge", "8xlarge"]);
const INSTANCE_FAMILIES = new Set(["c5", "c6g", "c7i", "m5", "m6a", "m6g", "m7i", "r5", "r6g", "r7i"]);
const deployments = settingOf("deployments");
/** About forty instance types of AWS. */
const AWS_TYPES = deployments.instanceTypes.filter(({ name }) => {
  const [family = "", size = ""] = name.split(".");
  return INSTANCE_FAMILIES.has(family) && INSTANCE_SIZES.has(size);
});

it("60 pods of deployments, for which packing wins, get the same plan in whatever order they are listed", () => {
  const cluster = scenario({
    nodePools: deployments.nodePools,
    daemonSets: deployments.daemonSets,
    instanceTypes: AWS_TYPES,
    pods: deployments.pods(60),
  });
  const problem = problemFromParts(cluster);
  const priceBy = (claims: "packed" | "least-added-price") =>
    new Attempt(problem, { claims, seed: 0 }).run().claims.reduce((sum, { price }) => sum + price + NODE_COST, 0);
  expect(priceBy("packed")).toBeLessThan(priceBy("least-added-price"));
  // Ruin and recreate never makes a packing more expensive.
  const { demand, offeringGroups, shadowPrices, width } = packingProblemFor(cluster);
  const batches = new Packer(demand, offeringGroups, shadowPrices, width).pack(
    Int32Array.from(demand.items, (item) => item.pods),
    { hostRulesFirst: false, spreadBonus: 0 },
  );
  const priceBefore = batches.reduce((sum, { price, nodes }) => sum + price * nodes, 0);
  expect(priceBy("packed")).toBeLessThanOrEqual(priceBefore + PRICE_TOLERANCE);
  const plan = solve(scenarioToSnapshot(cluster));
  expect(brokenRules(cluster, planToJson(plan, 0))).toEqual([]);
  for (const seed of [1, 2, 3]) expect(canonicalJson(solve(scenarioToSnapshot(shuffled(cluster, seed))))).toBe(canonicalJson(plan));
});

describe("equal pods cost no more than the best plan of one instance type", () => {
  it.for([
    { count: 8, requests: { cpu: "1", memory: "1Gi" } },
    { count: 1000, requests: { cpu: "1", memory: "2Gi" } },
    { count: 100, requests: { cpu: "1500m", memory: "9Gi" } },
  ])(
    "$count pods of $requests.cpu cpu and $requests.memory cost no more than the best plan of one instance type",
    ({ count, requests }) => {
      const pool = nodePool("spot", { requirements: [{ key: "karpenter.sh/capacity-type", operator: "In", values: ["spot"] }] });
      const parts = { nodePools: [pool], instanceTypes: AWS_TYPES, pods: pods(count, "p", requests) };
      const { axis, templates, classes } = problemFromParts(parts);
      const [template] = templates;
      const need = axis.vector(classes[0]?.requests ?? {});
      const homogeneous = AWS_TYPES.flatMap(({ name, offerings }) => {
        const row = (template?.table.types.findIndex((type) => type.name === name) ?? -1) * need.length;
        const each = Math.min(...need.map((amount, r) => (amount > 0 ? Math.floor((template?.room[row + r] ?? 0) / amount) : count)));
        const spot = offerings.filter(({ capacityType, available }) => capacityType === "spot" && available).map(({ price }) => price);
        return each > 0 ? [Math.ceil(count / each) * (Math.min(...spot) + NODE_COST)] : [];
      });
      const plan = planFor(parts);
      expect(plan.podErrors).toEqual({});
      expect(priceOf(plan)).toBeLessThanOrEqual(Math.min(...homogeneous) + PRICE_TOLERANCE);
    },
  );
});

it("pods without requests, and a deployment with a zone spread on few instance types, are placed", () => {
  expect(planFor({ pods: pods(40, "p", {}) }).podErrors).toEqual({});
  const labels = { app: "web" };
  const topologySpreadConstraints = [
    { maxSkew: 1, topologyKey: ZONE, whenUnsatisfiable: "DoNotSchedule" as const, labelSelector: { matchLabels: labels } },
  ];
  const parts = scenario({ pods: pods(20, "p", { cpu: "900m" }, { topologySpreadConstraints }, { labels }), instanceTypes: CATALOGUE });
  const plan = planFor(parts);
  expect(plan.podErrors).toEqual({});
  expect(brokenRules(parts, planToJson(plan, 0))).toEqual([]);
});
