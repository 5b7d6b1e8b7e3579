import { expect, it } from "vitest";
import type { NodeSelectorRequirement, PodSpec } from "#core/model/pod.ts";
import { instanceType, nodePool, planFor, pod } from "../../support/scheduling/builders.ts";

const ZONE = "topology.kubernetes.io/zone";
const ARCH = "kubernetes.io/arch";
const TYPE = "node.kubernetes.io/instance-type";
const only = (key: string, ...values: string[]): NodeSelectorRequirement => ({ key, operator: "In", values });
const labels = { app: "web" };
const spread = (topologyKey: string) => ({
  topologySpreadConstraints: [
    { topologyKey, maxSkew: 1, whenUnsatisfiable: "DoNotSchedule" as const, labelSelector: { matchLabels: labels } },
  ],
});
const web = (count: number, spec: PodSpec) => Array.from({ length: count }, (_, i) => pod(`web-${i}`, { cpu: "1" }, spec, { labels }));
const placed = (plan: ReturnType<typeof planFor>, prefix = "default/web") =>
  plan.newNodeClaims.flatMap(({ pods }) => pods).filter((name) => name.startsWith(prefix)).length;

/** Faults that generated scenarios of the kinds "topology" and "volumes" have shown. */
it.for([
  {
    name: "zones that the pool which the pods ask for cannot have",
    pools: [nodePool("any"), nodePool("one-zone", { requirements: [only(ZONE, "zone-c")] })],
    spec: { nodeSelector: { "karpenter.sh/nodepool": "one-zone" }, ...spread(ZONE) },
  },
  {
    name: "architectures that the instance type which the pods ask for does not have",
    pools: [nodePool("amd", { requirements: [only(ARCH, "amd64")] }), nodePool("arm", { requirements: [only(ARCH, "arm64")] })],
    spec: { nodeSelector: { [TYPE]: "amd.large" }, ...spread(ARCH) },
  },
])("a hard spread does not wait for $name", ({ pools, spec }) => {
  const instanceTypes = [instanceType("amd.large", 4, 8), instanceType("arm.large", 4, 8, { arch: "arm64" })];
  expect(placed(planFor({ nodePools: pools, instanceTypes, pods: web(3, spec) }))).toBe(3);
});

it("a hard spread waits for a zone whose pool has reached its limit, because a node may be there later", () => {
  const pools = [
    nodePool("a", { requirements: [only(ZONE, "zone-a")] }),
    nodePool("b", { requirements: [only(ZONE, "zone-b")], limits: { cpu: "0" } }),
  ];
  expect(placed(planFor({ nodePools: pools, pods: web(3, spread(ZONE)) }))).toBe(1);
});

it("pods that fit without it are spread evenly although others of the run are left", () => {
  const left = pod("left", { cpu: "1000" }, spread(ZONE), { labels });
  const plan = planFor({ pods: [left, ...web(6, spread(ZONE))] });
  const zones = plan.newNodeClaims.flatMap(({ requirements, pods }) => {
    const zone = requirements.find(({ key }) => key === ZONE)?.values?.[0] ?? "";
    return pods.map(() => zone);
  });
  expect(Object.values(Object.groupBy(zones, (zone) => zone)).map((of) => of?.length)).toEqual([2, 2, 2]);
});

it("a pod that another's spread over instance types counts is placed where minValues keeps the node's type open", () => {
  const pool = nodePool("pool", { requirements: [{ ...only(TYPE, "one.large", "two.large"), minValues: 2 }] });
  const instanceTypes = [instanceType("one.large", 4, 8), instanceType("two.large", 4, 8)];
  const watching = pod("watching", { cpu: "1" }, spread(TYPE), { labels });
  const plan = planFor({ nodePools: [pool], instanceTypes, pods: [watching, ...web(2, {})] });
  expect(placed(plan)).toBe(2);
});

it("pods that their own spread over instance types does not count get the nodes that are cheapest for all", () => {
  const instanceTypes = [
    instanceType("four.cpus", 4, 8, { price: 0.0697 }),
    instanceType("eight.cpus", 8, 16, { price: 0.0952, arch: "arm64" }),
    instanceType("sixteen.cpus", 16, 32, { price: 0.2244 }),
  ];
  const pods = Array.from({ length: 3 }, (_, i) => pod(`other-${i}`, { cpu: "3500m" }, spread(TYPE)));
  const plan = planFor({ instanceTypes, pods });
  expect(plan.newNodeClaims.map(({ pods: there }) => there.length).sort()).toEqual([1, 2]);
});
