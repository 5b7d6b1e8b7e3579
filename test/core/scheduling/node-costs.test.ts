import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Plan } from "#core/model/plan.ts";
import type { CostSettings } from "#core/model/prices.ts";
import { solve } from "#core/scheduling/solve.ts";
import { instanceType, nodePool, pod, pods, type Scenario, scenario } from "../../support/scheduling/builders.ts";
import { brokenRules } from "../../support/scheduling/check-plan.ts";
import type { RawJson } from "../../support/scheduling/judge-rules.ts";
import { scenarioToSnapshot } from "../../support/scheduling/scenario.ts";

const ON_DEMAND = { key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] } as const;
const POOLS = [nodePool("default", { requirements: [ON_DEMAND] })];
const planOf = (parts: Partial<Scenario>, costs: CostSettings = {}): Plan =>
  solve(scenarioToSnapshot(scenario({ nodePools: POOLS, ...parts })), costs);
const typesOf = ({ newNodeClaims }: Plan): readonly (string | undefined)[] => newNodeClaims.map(({ instanceTypes: [type] }) => type).sort();

const half = instanceType("m5.large", 2, 8, { price: 0.1 });
const whole = instanceType("m5.xlarge", 4, 16, { price: 0.23 });
const FOUR_PODS = pods(4, "p", { cpu: "900m", memory: "1Gi" });

describe("what each node counts decides between few nodes and many", () => {
  it.for([
    { nodeOverheadPrice: 0.02, want: ["m5.large", "m5.large"] },
    { nodeOverheadPrice: 0.05, want: ["m5.xlarge"] },
  ])("at $nodeOverheadPrice the plan is $want", ({ nodeOverheadPrice, want }) => {
    const plan = planOf({ instanceTypes: [half, whole], pods: FOUR_PODS }, { nodeOverheadPrice });
    expect(typesOf(plan)).toEqual(want);
  });

  it("the volumes of a NodeClass count like the overhead, and the price of the plan stays that of the instances", () => {
    const instanceTypes = [half, whole].map((type) => ({ ...type, volumePrice: 0.05 }));
    const { newNodeClaims } = planOf({ instanceTypes, pods: FOUR_PODS }, { nodeOverheadPrice: 0 });
    expect(newNodeClaims.map(({ pricePerHour }) => pricePerHour)).toEqual([0.23]);
  });

  it("of two plans with the same cost the one with fewer nodes is chosen, even if a node counts nothing", () => {
    const same = instanceType("m5.xlarge", 4, 16, { price: 0.2 });
    expect(typesOf(planOf({ instanceTypes: [half, same], pods: FOUR_PODS }, { nodeOverheadPrice: 0 }))).toEqual(["m5.xlarge"]);
  });
});

const burstable = instanceType("t4g.medium", 2, 4, { price: 0.034 });
const steady = instanceType("m7g.medium", 1, 4, { price: 0.041 });
const large = instanceType("c7g.large", 2, 4, { price: 0.0725 });

describe("a burstable type counts the surplus credits of what it would run", () => {
  it.for([
    { cpu: "300m", want: ["t4g.medium"], why: "below the baseline it is the cheapest" },
    { cpu: "800m", want: ["m7g.medium"], why: "above it a steady type costs less" },
    { cpu: "1500m", want: ["c7g.large"], why: "near its full cpu it costs more than a larger steady type" },
  ])("a pod of $cpu goes to $want: $why", ({ cpu, want }) => {
    expect(typesOf(planOf({ instanceTypes: [burstable, steady, large], pods: [pod("p", { cpu })] }))).toEqual(want);
  });

  it("under the setting list it counts its price alone", () => {
    const parts = { instanceTypes: [burstable, steady, large], pods: [pod("p", { cpu: "1500m" })] };
    expect(typesOf(planOf(parts, { burstablePrice: "list" }))).toEqual(["t4g.medium"]);
  });

  it("a NodeClaim leaves out a burstable type that a launch would prefer although it costs more", () => {
    const [claim] = planOf({ instanceTypes: [burstable, steady, large], pods: [pod("p", { cpu: "800m" })] }).newNodeClaims;
    expect(claim?.instanceTypes).toEqual(["m7g.medium", "c7g.large"]);
    expect(claim?.pricePerHour).toBe(0.041);
  });

  it("keeps a burstable type that minValues needs", () => {
    const pool = nodePool("default", {
      requirements: [ON_DEMAND, { key: "node.kubernetes.io/instance-type", operator: "Exists", minValues: 3 }],
    });
    const [claim] = planOf({
      nodePools: [pool],
      instanceTypes: [burstable, steady, large],
      pods: [pod("p", { cpu: "800m" })],
    }).newNodeClaims;
    expect(claim?.instanceTypes).toHaveLength(3);
  });

  it("a pod that only burstable types hold gets one, with the credits in the plan", () => {
    const { newNodeClaims, podErrors } = planOf({ instanceTypes: [burstable], pods: [pod("p", { cpu: "1400m" })] });
    expect(podErrors).toEqual({});
    expect(newNodeClaims[0]?.surplusPerHour).toBeCloseTo(0.04, 9);
  });

  it("whatever the pods request, plans with burstable types break no rule, and the same input gives the same plan", () => {
    const request = fc.record({
      cpu: fc.constantFrom("50m", "300m", "700m", "1400m"),
      memory: fc.constantFrom("128Mi", "1Gi", "3Gi"),
    });
    fc.assert(
      fc.property(fc.array(request, { minLength: 1, maxLength: 9 }), (requests) => {
        const cluster = scenario({
          nodePools: POOLS,
          instanceTypes: [burstable, steady, large],
          pods: requests.map((each, i) => pod(`p${i}`, each)),
        });
        const plan = solve(scenarioToSnapshot(cluster));
        expect(plan.podErrors).toEqual({});
        expect(brokenRules(cluster, plan as RawJson)).toEqual([]);
        const reversed = { ...cluster, pods: [...cluster.pods].reverse(), instanceTypes: [...cluster.instanceTypes].reverse() };
        expect(solve(scenarioToSnapshot(reversed))).toEqual(plan);
      }),
      { numRuns: 60 },
    );
  });
});
