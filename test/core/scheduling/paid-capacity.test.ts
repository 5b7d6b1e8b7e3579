import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { InstanceType, Offering } from "#core/model/instance-type.ts";
import { familyOf, type PaidFor, type PaidShare } from "#core/model/paid-capacity.ts";
import type { PlannedNodeClaim } from "#core/model/plan.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { solve } from "#core/scheduling/solve.ts";
import {
  instanceType,
  nodePool,
  nodeWithClaim,
  pod,
  pods,
  type Scenario,
  scenario,
  snapshotOf,
  ZONES,
} from "../../support/scheduling/builders.ts";
import { brokenRules } from "../../support/scheduling/check-plan.ts";
import { planToJson } from "../../support/scheduling/scenario.ts";

const both = (price: number, spot: number): readonly Offering[] =>
  ZONES.flatMap((zone) => [
    { zone, capacityType: "on-demand" as const, price, available: true },
    { zone, capacityType: "spot" as const, price: spot, available: true },
  ]);

/** Spot is at a third of the on-demand price, and of family s cheaper than that of family m. */
const TYPES = [
  ...[1, 2, 4].map((n) => instanceType(`m.x${n}`, 2 * n, 8 * n, { offerings: both(0.1 * n, 0.035 * n) })),
  ...[1, 2, 4].map((n) => instanceType(`s.x${n}`, 2 * n, 8 * n, { offerings: both(0.12 * n, 0.03 * n) })),
];

const share = (of: PaidFor, perHour: number): PaidShare => ({ of, perHour, keeps: perHour });
const M: PaidFor = { kind: "family", family: "m" };
const ANY: PaidFor = { kind: "any" };

const planned = (parts: Partial<Scenario>, more: Partial<Snapshot>) => solve(snapshotOf({ instanceTypes: TYPES, ...parts }, more));
const isOnDemand = ({ requirements }: PlannedNodeClaim): boolean =>
  requirements.some(({ key, values }) => key === "karpenter.sh/capacity-type" && values?.join() === "on-demand");
const familiesOf = ({ instanceTypes }: PlannedNodeClaim): readonly string[] => [...new Set(instanceTypes.map(familyOf))].sort();
/** Dollars an hour on demand of the cheapest type of each NodeClaim that is paid for. */
const paidUse = (claims: readonly PlannedNodeClaim[]): number =>
  claims.filter(({ paidFor }) => paidFor !== undefined).reduce((sum, { pricePerHour }) => sum + pricePerHour / 0.1, 0);
/** One pod fills a node of the smallest types. */
const fillers = (count: number) => pods(count, "web", { cpu: "1500m" }, SPREAD);
const SPREAD = {
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: {} } }],
    },
  },
};

describe("on-demand capacity that is paid for", () => {
  it("comes before cheaper spot, and is launched on demand as what the commitment pays for", () => {
    const { newNodeClaims } = planned({ pods: fillers(1) }, { paid: [share(M, 1)] });
    expect(newNodeClaims).toHaveLength(1);
    expect(newNodeClaims[0]).toMatchObject({ paidFor: "family", nodePool: "default" });
    expect(newNodeClaims.every(isOnDemand)).toBe(true);
    expect(newNodeClaims.map(familiesOf)).toEqual([["m"]]);
  });

  it.for([
    { name: "nothing", paid: [], want: 0 },
    { name: "less than one node", paid: [share(M, 0.09)], want: 0 },
    { name: "exactly two nodes", paid: [share(M, 0.2)], want: 2 },
    { name: "all", paid: [share(M, 5)], want: 5 },
    { name: "two nodes of one family and one of any", paid: [share(M, 0.2), share(ANY, 0.1)], want: 3 },
    { name: "one type in its zone", paid: [share({ kind: "type", type: "m.x1", zone: "zone-b" }, 0.2)], want: 2 },
    { name: "a family that no NodePool offers", paid: [share({ kind: "family", family: "q" }, 5)], want: 0 },
  ])("is bounded: where $name is left, the other pods get spot", ({ paid, want }) => {
    const { newNodeClaims, podErrors } = planned({ pods: fillers(5) }, { paid });
    expect(podErrors).toEqual({});
    expect(newNodeClaims).toHaveLength(5);
    expect(newNodeClaims.filter(({ paidFor }) => paidFor !== undefined)).toHaveLength(want);
    expect(newNodeClaims.filter(isOnDemand)).toHaveLength(want);
  });

  it("is used up by smaller machines where the rest does not do for a larger one", () => {
    const { newNodeClaims } = planned({ pods: pods(40, "web", { cpu: "800m" }) }, { paid: [share(M, 0.7)] });
    expect(paidUse(newNodeClaims)).toBeCloseTo(0.7);
  });

  it("of a zonal reserved instance is launched in its zone, as its type", () => {
    const paid = [share({ kind: "type", type: "m.x1", zone: "zone-b" }, 0.1)];
    const [claim] = planned({ pods: fillers(1) }, { paid }).newNodeClaims;
    expect(claim?.instanceTypes).toEqual(["m.x1"]);
    const { newNodeClaims } = planned(
      { pods: [pod("a", { cpu: "1500m" }, { nodeSelector: { "topology.kubernetes.io/zone": "zone-a" } })] },
      { paid },
    );
    expect(newNodeClaims.map(({ paidFor }) => paidFor)).toEqual([undefined]);
  });

  it("is shared by NodePools, whatever their weights", () => {
    const nodePools = ["a", "b", "c"].map((team, i) => nodePool(team, { labels: { team }, weight: i }));
    const waiting = ["a", "b", "c"].map((team) => pod(team, { cpu: "1500m" }, { nodeSelector: { team } }));
    const { newNodeClaims } = planned({ pods: waiting, nodePools }, { paid: [share(M, 0.2)] });
    expect(newNodeClaims.filter(({ paidFor }) => paidFor !== undefined)).toHaveLength(2);
  });

  it("does not let a NodePool exceed its limits or its price cap", () => {
    const limited = nodePool("default", { limits: { nodes: "3" } });
    expect(planned({ pods: fillers(5), nodePools: [limited] }, { paid: [share(M, 0.2)] }).newNodeClaims).toHaveLength(3);
    const priceCap = { of: "cluster", perHour: 0.3, elsewhere: 0 } as const;
    const onDemand = nodePool("default", { requirements: [{ key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] }] });
    expect(planned({ pods: fillers(5), nodePools: [onDemand] }, { paid: [share(M, 0.2)], priceCap }).newNodeClaims).toHaveLength(3);
  });

  it("is not used by pods that require spot, nor by a NodePool of spot", () => {
    const paid = [share(ANY, 9)];
    const spot = pod("a", { cpu: "1" }, { nodeSelector: { "karpenter.sh/capacity-type": "spot" } });
    expect(planned({ pods: [spot] }, { paid }).newNodeClaims.map(isOnDemand)).toEqual([false]);
    const ofSpot = nodePool("default", { requirements: [{ key: "karpenter.sh/capacity-type", operator: "In", values: ["spot"] }] });
    expect(planned({ pods: fillers(1), nodePools: [ofSpot] }, { paid }).newNodeClaims.map(isOnDemand)).toEqual([false]);
  });

  it("counts the cluster's own nodes that run on demand, and a NodeClaim on its way", () => {
    const labels = {
      "node.kubernetes.io/instance-type": "m.x1",
      "karpenter.sh/capacity-type": "on-demand",
      "topology.kubernetes.io/zone": "zone-a",
    };
    const { node, claim } = nodeWithClaim("n0", { cpu: "100m", labels });
    const coming = {
      ...claim,
      metadata: { name: "coming", labels: { "karpenter.sh/nodepool": "default" } },
      status: {},
      spec: {
        ...claim.spec,
        requirements: [
          { key: "karpenter.sh/capacity-type", operator: "In" as const, values: ["on-demand"] },
          { key: "node.kubernetes.io/instance-type", operator: "In" as const, values: ["m.x1", "m.x2"] },
        ],
      },
    };
    const parts = { pods: fillers(5), nodes: [node], nodeClaims: [claim, coming] };
    const { newNodeClaims } = planned(parts, { paid: [share(M, 0.4)] });
    expect(newNodeClaims.filter(({ paidFor }) => paidFor !== undefined)).toHaveLength(2);
    // A second Node that says that it is the same machine takes nothing.
    const registered = { ...claim, status: { ...claim.status, nodeName: "n0" } };
    const twin = { ...node, metadata: { ...node.metadata, name: "another" } };
    const beside = planned({ ...parts, nodes: [node, twin], nodeClaims: [registered, coming] }, { paid: [share(M, 0.4)] });
    expect(beside.newNodeClaims.filter(({ paidFor }) => paidFor !== undefined)).toHaveLength(2);
  });

  it("leaves the plan as it is where no commitment is counted", () => {
    const parts = { pods: [...fillers(3), ...pods(9, "more", { cpu: "700m" })] };
    expect(planned(parts, { paid: [] })).toEqual(planned(parts, {}));
  });

  it("is not asked for minValues that it cannot meet, and minValues are not given up for it", () => {
    const requirements = [{ key: "karpenter.k8s.aws/instance-family", operator: "Exists" as const, minValues: 2 }];
    for (const minValuesPolicy of ["Strict", "BestEffort"] as const) {
      const snapshot = snapshotOf(
        { instanceTypes: TYPES, pods: fillers(1), nodePools: [nodePool("default", { requirements })] },
        { paid: [share(M, 9)] },
      );
      const [claim] = solve(snapshot, { minValuesPolicy }).newNodeClaims;
      expect([claim?.paidFor, claim?.minValuesRelaxed]).toEqual([undefined, undefined]);
    }
  });

  it("keeps to its bound and to all rules of a plan, for generated pods and commitments", () => {
    const amount = fc.integer({ min: 0, max: 30 }).map((tenths) => tenths / 20);
    const commitments = fc
      .tuple(amount, amount, amount)
      .map(([m, any, type]) => [share({ kind: "type", type: "s.x2" }, type), share(M, m), share(ANY, any)]);
    const waiting = fc.array(fc.constantFrom("300m", "700m", "1500m", "3"), { minLength: 1, maxLength: 14 });
    fc.assert(
      fc.property(commitments, waiting, (paid, sizes) => {
        const parts = { instanceTypes: TYPES as readonly InstanceType[], pods: sizes.map((cpu, i) => pod(`p${i}`, { cpu })) };
        const snapshot = snapshotOf(parts, { paid });
        const plan = solve(snapshot);
        expect(paidUse(plan.newNodeClaims)).toBeLessThanOrEqual(paid.reduce((sum, { perHour }) => sum + perHour, 0) + 1e-6);
        for (const { of, perHour } of paid) {
          const own = plan.newNodeClaims.filter(({ paidFor }) => paidFor === of.kind);
          expect(paidUse(own)).toBeLessThanOrEqual(perHour + 1e-6);
        }
        expect(brokenRules(scenario(parts), planToJson(plan, 0))).toEqual([]);
        expect(plan.podErrors).toEqual({});
        // Without commitments it costs no less, at what is paid beside them.
        const billed = (claims: readonly PlannedNodeClaim[]): number =>
          claims.reduce((sum, { paidFor, pricePerHour }) => sum + (paidFor === undefined ? pricePerHour : 0), 0);
        expect(billed(plan.newNodeClaims)).toBeLessThanOrEqual(billed(solve(snapshotOf(parts)).newNodeClaims) + 1e-9);
      }),
      { numRuns: 50 },
    );
  });
});
