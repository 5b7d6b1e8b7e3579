import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PodSpec } from "../../../../core/model/pod.ts";
import {
  boundPod,
  CATALOGUE,
  instanceType,
  nodePool,
  nodeWithClaim,
  pod,
  pods,
  type Scenario,
} from "../../../support/scheduling/builders.ts";
import { HOST, type Market, marketFor, markets, onDemand, ZONE, zonesOf } from "./offering-group-builders.ts";

const labels = { app: "web" };
const labelSelector = { matchLabels: labels };
const overZones = (maxSkew: number): PodSpec => ({
  topologySpreadConstraints: [{ maxSkew, topologyKey: ZONE, whenUnsatisfiable: "DoNotSchedule", labelSelector }],
});
const together = (topologyKey: string, app = "web"): PodSpec => ({
  affinity: {
    podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: { matchLabels: { app } }, topologyKey }] },
  },
});

/** zone-b is cheapest, zone-a dearest. */
const PRICES: Record<string, number> = { "zone-a": 0.12, "zone-b": 0.1, "zone-c": 0.11 };
const UNEVEN = [
  instanceType("m.medium", 4, 16, {
    offerings: Object.entries(PRICES).map(([zone, price]) => onDemand(zone, price)),
  }),
];

/** How many waiting pods are meant for each zone. */
function podsByZone({ demand }: Market): Record<string, number> {
  const counts: Record<string, number> = {};
  demand.items.forEach(({ pods: n }, s) => {
    const zone = zonesOf(demand, s).join();
    counts[zone] = (counts[zone] ?? 0) + n;
  });
  return counts;
}

/** A node in a zone, with pods that run there. */
function running(zone: string, count: number): Pick<Scenario, "nodes" | "nodeClaims" | "pods"> {
  const { node, claim } = nodeWithClaim(zone, { cpu: "1", labels: { [ZONE]: zone } });
  return {
    nodes: [node],
    nodeClaims: [claim],
    pods: Array.from({ length: count }, (_, i) => boundPod(`old-${i}`, zone, { cpu: "1m" }, {}, { labels })),
  };
}

describe("stocks", () => {
  it("hold every pod of the classes that can be foreseen once, in stocks that differ", () => {
    fc.assert(
      fc.property(markets, (cluster) => {
        const { demand, left } = marketFor(cluster);
        const drawn = new Int32Array(demand.items.length);
        demand.itemOfPod.forEach((itemIndexes, c) => {
          expect(itemIndexes?.length ?? left[c]).toBe(left[c]);
          for (const s of itemIndexes ?? []) drawn[s] = (drawn[s] ?? 0) + 1;
        });
        expect([...drawn]).toEqual(demand.items.map(({ pods: n }) => n));
        expect(new Set(demand.items.map((item) => JSON.stringify({ ...item, vector: [...item.vector], pods: 0 }))).size).toBe(drawn.length);
      }),
      { numRuns: 60, seed: 1 },
    );
  });

  it("are shared by classes that packing cannot tell apart", () => {
    const { demand, problem } = marketFor({
      pods: [...pods(3, "a", { cpu: "1" }, { schedulerName: "x" }), ...pods(2, "b", { cpu: "1" }), pod("c", { cpu: "2" })],
    });
    expect(demand.items.map(({ pods: n }) => n).sort()).toEqual([1, 5]);
    expect(demand.itemOfPod).toHaveLength(problem.classes.length);
  });

  it("know how many pods of a group a host may have for one more to come", () => {
    const ruined: PodSpec = {
      affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector, topologyKey: HOST }] } },
    };
    const spread: PodSpec = {
      topologySpreadConstraints: [{ maxSkew: 3, topologyKey: HOST, whenUnsatisfiable: "DoNotSchedule", labelSelector }],
    };
    const most = (spec: PodSpec) => marketFor({ pods: pods(2, "p", {}, spec, { labels }) }).demand.items[0]?.rules.map((rule) => rule.most);
    expect(most(spread)).toEqual([2]);
    // Its own kind counts in the group and in its inverse.
    expect(new Set(most(ruined))).toEqual(new Set([0]));
  });
});

describe("pods that must spread over zones", () => {
  it.for([
    { name: "go evenly", count: 9, maxSkew: 1, there: 0, want: { "zone-a": 3, "zone-b": 3, "zone-c": 3 } },
    { name: "go to the cheapest zones first", count: 5, maxSkew: 1, there: 0, want: { "zone-a": 1, "zone-b": 2, "zone-c": 2 } },
    { name: "use the skew for the cheaper zones", count: 9, maxSkew: 4, there: 0, want: { "zone-a": 1, "zone-b": 4, "zone-c": 4 } },
    { name: "count those that run already", count: 4, maxSkew: 1, there: 2, want: { "zone-a": 2, "zone-c": 2 } },
  ])("$name", ({ count, maxSkew, there, want }) => {
    const old = running("zone-b", there);
    const market = marketFor({
      ...old,
      instanceTypes: UNEVEN,
      pods: [...old.pods, ...pods(count, "new", {}, overZones(maxSkew), { labels })],
    });
    expect(podsByZone(market)).toEqual(want);
  });

  it("stay within the skew whatever runs where, and whatever the skew", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 25 }),
        fc.integer({ min: 0, max: 5 }),
        (maxSkew, count, there) => {
          const old = running("zone-a", there);
          const got = podsByZone(
            marketFor({ ...old, instanceTypes: UNEVEN, pods: [...old.pods, ...pods(count, "new", {}, overZones(maxSkew), { labels })] }),
          );
          const total = (zone: string): number => (got[zone] ?? 0) + (zone === "zone-a" ? there : 0);
          const counts = Object.keys(PRICES).map(total);
          // Nobody goes to the fullest zone when that breaks the skew; what was uneven before may stay so.
          const isUneven = Math.max(...counts) - Math.min(...counts) > maxSkew;
          expect(isUneven && (got["zone-a"] ?? 0) > 0).toBe(false);
          expect(Math.abs(total("zone-b") - total("zone-c"))).toBeLessThanOrEqual(maxSkew);
        },
      ),
      { numRuns: 40, seed: 2 },
    );
  });

  it("leave out zones where there is no machine for them", () => {
    const offerings = [onDemand("zone-a", 1)];
    const market = marketFor({
      instanceTypes: [instanceType("m.one", 4, 16, { offerings })],
      pods: pods(3, "p", {}, overZones(5), { labels }),
    });
    expect(podsByZone(market)).toEqual({ "zone-a": 3 });
  });
});

it("go nowhere under a skew that no API server lets through", () => {
  const { demand } = marketFor({ pods: [...pods(3, "p", {}, overZones(0), { labels }), pod("large", { cpu: "2" })] });
  expect(demand.itemOfPod.map((itemIndexes) => [...(itemIndexes ?? [])])).toEqual([[0], [-1, -1, -1]]);
  expect(demand.items.map((item) => item.pods)).toEqual([1]);
});

describe("pods that must lie together in a zone", () => {
  it.for([
    { name: "all go to the cheapest", there: 0, want: { "zone-b": 6 } },
    { name: "all go where some run", there: 1, want: { "zone-a": 6 } },
  ])("$name", ({ there, want }) => {
    const old = running("zone-a", there);
    const fresh = pods(6, "new", {}, together(ZONE), { labels });
    expect(podsByZone(marketFor({ ...old, instanceTypes: UNEVEN, pods: [...old.pods, ...fresh] }))).toEqual(want);
  });
});

describe("left out are pods whose places cannot be foreseen:", () => {
  const volumes = {
    storageClasses: [
      {
        metadata: { name: "two" },
        provisioner: "ebs.csi.aws.com",
        volumeBindingMode: "WaitForFirstConsumer",
        allowedTopologies: [
          { matchLabelExpressions: [{ key: ZONE, values: ["zone-a"] }] },
          { matchLabelExpressions: [{ key: ZONE, values: ["zone-b"] }] },
        ],
      },
    ],
    persistentVolumeClaims: [{ metadata: { name: "data", namespace: "default" }, spec: { storageClassName: "two" } }],
  };
  it.for<{ name: string; spec: PodSpec; isLeftOut: boolean }>([
    { name: "plain pods are not", spec: {}, isLeftOut: false },
    { name: "one spread over zones is not", spec: overZones(1), isLeftOut: false },
    { name: "company on a host", spec: together(HOST), isLeftOut: true },
    { name: "two groups of their own", spec: { ...overZones(1), ...together(ZONE) }, isLeftOut: true },
    { name: "ports of the host", spec: { containers: [{ name: "main", ports: [{ hostPort: 80 }] }] }, isLeftOut: true },
    {
      name: "other topology keys",
      spec: { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "rack", whenUnsatisfiable: "DoNotSchedule", labelSelector }] },
      isLeftOut: true,
    },
    { name: "company of others by such a key", spec: together("rack", "db"), isLeftOut: true },
    { name: "a zone that others must leave", spec: apartIn(ZONE), isLeftOut: true },
    { name: "a host that is there", spec: { nodeSelector: { [HOST]: "n1" } }, isLeftOut: true },
    {
      name: "volumes that may lie in several places",
      spec: { volumes: [{ name: "d", persistentVolumeClaim: { claimName: "data" } }] },
      isLeftOut: true,
    },
    {
      name: "sizes that no machine has",
      spec: { containers: [{ name: "main", resources: { requests: { cpu: "500" } } }] },
      isLeftOut: true,
    },
  ])("$name", ({ spec, isLeftOut }) => {
    const { node, claim } = nodeWithClaim("n1", { cpu: "1" });
    const { demand } = marketFor({ ...volumes, nodes: [node], nodeClaims: [claim], pods: pods(2, "p", { cpu: "2" }, spec, { labels }) });
    expect(demand.itemOfPod[0] === undefined).toBe(isLeftOut);
    expect(demand.items.length === 0).toBe(isLeftOut);
  });
});

function apartIn(topologyKey: string): PodSpec {
  return { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector, topologyKey }] } } };
}

describe("home", () => {
  const taints = [{ key: "dedicated", effect: "NoSchedule" as const }];
  it.for([
    { name: "is the pool of the highest weight", more: {}, spec: {}, want: "heavy" },
    { name: "is the next where that one's taint is not tolerated", more: { taints }, spec: {}, want: "light" },
    { name: "is the tainted one where it is", more: { taints }, spec: { tolerations: [{ operator: "Exists" as const }] }, want: "heavy" },
    { name: "is the next where that one has no such label", more: {}, spec: { nodeSelector: { team: "red" } }, want: "light" },
    {
      name: "is the next where that one has no such machine",
      more: { requirements: [{ key: "kubernetes.io/arch", operator: "In" as const, values: ["arm64"] }] },
      spec: { nodeSelector: { "kubernetes.io/arch": "amd64" } },
      want: "light",
    },
  ])("$name", ({ more, spec, want }) => {
    const nodePools = [nodePool("light", { weight: 1, labels: { team: "red" } }), nodePool("heavy", { weight: 9, ...more })];
    const { demand } = marketFor({ nodePools, instanceTypes: CATALOGUE, pods: [pod("p", {}, spec)] });
    expect(demand.kinds.map(({ home }) => home.name)).toEqual([want]);
  });
});

it("knows labels that machines do not bring from those that they do, or that the pool pins", () => {
  const nodePools = [nodePool("default", { labels: { tier: "web" }, requirements: [{ key: "team", operator: "Exists" }] })];
  const custom = (nodeSelector: Record<string, string>) =>
    marketFor({ nodePools, pods: [pod("p", {}, { nodeSelector })] }).demand.kinds.map((kind) => kind.custom);
  expect(custom({ [ZONE]: "zone-a", tier: "web" })).toEqual([""]);
  expect(custom({ team: "red", tier: "web" })).toEqual(custom({ team: "red" }));
  expect(custom({ team: "red" })).not.toEqual([""]);
  expect(custom({ team: "red" })).not.toEqual(custom({ team: "blue" }));
});
