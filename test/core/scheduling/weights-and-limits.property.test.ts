import fc from "fast-check";
import { expect, it } from "vitest";
import { Attempt } from "#core/scheduling/attempt.ts";
import { solve } from "#core/scheduling/solve.ts";
import { drawsOf } from "../../support/effort.ts";
import { nodePool, nodeWithClaim, type Scenario, scenario } from "../../support/scheduling/builders.ts";
import { brokenRules } from "../../support/scheduling/check-plan.ts";
import { lighterThanNeeded } from "../../support/scheduling/check-weights.ts";
import { planToJson, scenarioToSnapshot } from "../../support/scheduling/scenario.ts";
import { catalogues, deployments, problemFromSnapshot } from "./packing/packing-builders.ts";

const RUNS = { numRuns: drawsOf(150), seed: 20_261_123 };

const limits = fc.record(
  {
    cpu: fc.constantFrom("3", "8", "20", "64"),
    memory: fc.constantFrom("16Gi", "50Gi", "200Gi"),
    nodes: fc.constantFrom("1", "3"),
  },
  { requiredKeys: [] },
);

const pools = fc
  .array(
    fc.record({
      weight: fc.constantFrom(undefined, 10, 10, 50),
      limits,
      arch: fc.constantFrom(undefined, undefined, "amd64", "arm64"),
      team: fc.constantFrom(undefined, "red", "blue"),
      minValues: fc.constantFrom(undefined, undefined, undefined, 2),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((list) =>
    list.map(({ weight, limits: most, arch, team, minValues }, i) =>
      nodePool(`pool-${i}`, {
        requirements: [
          ...(arch === undefined ? [] : [{ key: "kubernetes.io/arch", operator: "In" as const, values: [arch] }]),
          ...(team === undefined ? [] : [{ key: "team", operator: "In" as const, values: [team] }]),
          ...(minValues === undefined ? [] : [{ key: "karpenter.k8s.aws/instance-family", operator: "Exists" as const, minValues }]),
        ],
        ...(weight === undefined ? {} : { weight }),
        ...(Object.keys(most).length === 0 ? {} : { limits: most }),
      }),
    ),
  );

/** Clusters in which several pools compete for pods, most of them with a weight and limits. */
const clusters: fc.Arbitrary<Scenario> = fc
  .record({ pods: deployments, instanceTypes: catalogues, nodePools: pools, hasNode: fc.boolean() })
  .map(({ pods, instanceTypes, nodePools, hasNode }) => {
    const { node, claim } = nodeWithClaim("n0", { pool: "pool-0", cpu: "2", memory: "4Gi" });
    return scenario({ pods, instanceTypes, nodePools, ...(hasNode ? { nodes: [node], nodeClaims: [claim] } : {}) });
  });

it("no pod is in a lighter pool than one that could take it, given what the limits leave", () => {
  fc.assert(
    fc.property(clusters, (cluster) => {
      const plan = planToJson(solve(scenarioToSnapshot(cluster)), 0);
      expect(lighterThanNeeded(cluster, plan)).toEqual([]);
    }),
    RUNS,
  );
});

it("whatever types the claims are launched as, their sum is within each pool's limits, and minValues hold", () => {
  fc.assert(
    fc.property(clusters, (cluster) => {
      expect(brokenRules(cluster, planToJson(solve(scenarioToSnapshot(cluster)), 0))).toEqual([]);
    }),
    RUNS,
  );
});

it("a plan places all pods where Karpenter's way places all, which charges each claim with its largest type", () => {
  let complete = 0;
  fc.assert(
    fc.property(clusters, (cluster) => {
      const snapshot = scenarioToSnapshot(cluster);
      const karpenters = new Attempt(problemFromSnapshot(snapshot), { claims: "fewest-pods", seed: 0, isKarpenters: true }).run();
      if (karpenters.failed.size > 0) return;
      complete++;
      expect(solve(snapshot).podErrors).toEqual({});
    }),
    RUNS,
  );
  expect(complete).toBeGreaterThan(drawsOf(20));
});
