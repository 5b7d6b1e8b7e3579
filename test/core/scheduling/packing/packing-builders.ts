import fc from "fast-check";
import type { Offering } from "#core/model/instance-type.ts";
import type { CostSettings } from "#core/model/prices.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { type Demand, demandOf } from "#core/scheduling/packing/demand.ts";
import { type OfferingGroup, offeringGroupsFor } from "#core/scheduling/packing/offering-groups.ts";
import { ShadowPrices } from "#core/scheduling/packing/shadow-prices.ts";
import { nodeViews } from "#core/scheduling/problem/node-view.ts";
import { pendingPods } from "#core/scheduling/problem/pending-pods.ts";
import { problemFor, type SchedulingProblem } from "#core/scheduling/problem/problem.ts";
import { TopologyState } from "#core/scheduling/problem/topology-state.ts";
import { instanceType, nodePool, pods, type Scenario, scenario, snapshotOf, ZONES } from "#test/support/scheduling/builders.ts";

export const ZONE = "topology.kubernetes.io/zone";
export const HOST = "kubernetes.io/hostname";

/** The scheduling problem of a scenario's pending pods. */
export const problemFromParts = (parts: Partial<Scenario>): SchedulingProblem => problemFromSnapshot(snapshotOf(parts));

/** The scheduling problem of a snapshot's pending pods, as provisioning has it. */
export function problemFromSnapshot(snapshot: Snapshot, costs: CostSettings = {}): SchedulingProblem {
  return problemFor(snapshot, nodeViews(snapshot), pendingPods(snapshot).pods, {
    policy: "Respect",
    minValuesPolicy: "Strict",
    reservedMode: "strict",
    excludeNodes: new Set(),
    settling: new Set(),
    moved: new Set(),
    ...costs,
  });
}

export function onDemand(zone: string, price: number): Offering {
  return { zone, capacityType: "on-demand", price, available: true };
}

/** Everything that packing reads, with no pod placed yet. */
export interface PackingProblem {
  readonly problem: SchedulingProblem;
  readonly topology: TopologyState;
  readonly left: readonly number[];
  readonly demand: Demand;
  readonly offeringGroups: readonly OfferingGroup[];
  readonly shadowPrices: ShadowPrices;
  readonly width: number;
}

export function packingProblemFor(parts: Partial<Scenario>): PackingProblem {
  const problem = problemFromParts(parts);
  const topology = new TopologyState(problem.groups);
  const left = problem.classes.map(({ pods: alike }) => alike.length);
  const demand = demandOf(problem, left, topology);
  const width = problem.axis.names.length;
  const { groups: offeringGroups } = offeringGroupsFor(demand.kinds, width);
  return {
    problem,
    topology,
    left,
    demand,
    offeringGroups,
    width,
    shadowPrices: new ShadowPrices(offeringGroups, demand.items, demand.kinds.length, width, 3),
  };
}

/** Zones that an item's pods are restricted to; empty when they may go to any. */
export function zonesOf({ kinds, items }: Demand, item: number): readonly string[] {
  const kind = kinds[items[item]?.kind ?? -1];
  return [...(kind?.sets[kind.pools[0]?.index ?? -1]?.requirements.get(ZONE)?.values ?? [])].sort();
}

const sizes = fc.record({ cpu: fc.constantFrom("0", "100m", "700m", "1", "2500m"), memory: fc.constantFrom("64Mi", "1Gi", "3Gi", "9Gi") });
const selectors = fc.constantFrom<Record<string, string>>(
  {},
  {},
  { [ZONE]: "zone-a" },
  { "karpenter.sh/capacity-type": "on-demand" },
  { "kubernetes.io/arch": "arm64" },
  { "kubernetes.io/arch": "amd64" },
  { team: "red" },
  { team: "blue" },
);
const rules = fc.constantFrom<"none" | "apart" | "spread">("none", "none", "apart", "spread");

/** Some deployments: sizes, node selectors, and rules about pods of one deployment on a host. */
export const deployments: fc.Arbitrary<Scenario["pods"]> = fc
  .array(fc.record({ sizes, selectors, rules, count: fc.integer({ min: 1, max: 9 }) }), { minLength: 1, maxLength: 6 })
  .map((list) =>
    list.flatMap(({ sizes: requests, selectors: nodeSelector, rules: rule, count }, i) => {
      const labels = { app: `a${i}` };
      const labelSelector = { matchLabels: labels };
      return pods(count, `d${i}`, requests, { nodeSelector, ...(rule === "none" ? {} : hostRules[rule](labelSelector)) }, { labels });
    }),
  );

type Selector = { readonly matchLabels: Record<string, string> };

const hostRules = {
  apart: (labelSelector: Selector) => ({
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector, topologyKey: HOST }] } },
  }),
  spread: (labelSelector: Selector) => ({
    topologySpreadConstraints: [{ maxSkew: 2, topologyKey: HOST, whenUnsatisfiable: "DoNotSchedule" as const, labelSelector }],
  }),
};

/** A few instance types of any size, shape, price and architecture, with offerings in some zones. */
export const catalogues: fc.Arbitrary<Scenario["instanceTypes"]> = fc
  .array(
    fc.record({
      cpu: fc.constantFrom(2, 4, 8, 32),
      perCpu: fc.constantFrom(2, 4, 8),
      perThousand: fc.integer({ min: 20, max: 80 }),
      arch: fc.constantFrom("amd64", "arm64"),
      zones: fc.subarray(ZONES, { minLength: 1 }),
    }),
    { minLength: 2, maxLength: 7 },
  )
  .map((list) =>
    list.map(({ cpu, perCpu, perThousand, arch, zones }, i) => {
      const price = (cpu * perThousand) / 1000;
      return instanceType(`t${i}.x${cpu}`, cpu, cpu * perCpu, {
        arch,
        offerings: zones.flatMap((zone, z) => [
          onDemand(zone, price),
          { zone, capacityType: "spot", price: price * (0.3 + 0.1 * z), available: i % 3 > 0 },
        ]),
      });
    }),
  );

/** Two pools: one of amd64 for any team, and one of lower weight for the red team. */
export const POOLS = [
  nodePool("any", {
    weight: 10,
    requirements: [
      { key: "team", operator: "Exists" },
      { key: "kubernetes.io/arch", operator: "In", values: ["amd64"] },
    ],
  }),
  nodePool("red", { labels: { team: "red" } }),
];

/** Small clusters without nodes, for the properties of packing. */
export const packingScenarios: fc.Arbitrary<Scenario> = fc
  .record({ pods: deployments, instanceTypes: catalogues })
  .map((parts) => scenario({ ...parts, nodePools: POOLS }));
