import { expect, it } from "vitest";
import type { NodeSelectorRequirement, PodSpec } from "#core/model/pod.ts";
import { instanceType, nodePool, nodeWithClaim, planFor, pod } from "../../support/scheduling/builders.ts";

const ZONE = "topology.kubernetes.io/zone";
const ARCH = "kubernetes.io/arch";
const TYPE = "node.kubernetes.io/instance-type";
const only = (key: string, ...values: string[]): NodeSelectorRequirement => ({ key, operator: "In", values });
const anyOf = (...terms: NodeSelectorRequirement[]) => ({
  requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms.map((term) => ({ matchExpressions: [term] })) },
});
const labels = { app: "web" };
const spread = (topologyKey: string, whenUnsatisfiable: "DoNotSchedule" | "ScheduleAnyway" = "DoNotSchedule") => ({
  topologySpreadConstraints: [{ topologyKey, maxSkew: 1, whenUnsatisfiable, labelSelector: { matchLabels: labels } }],
});
const web = (count: number, spec: PodSpec) => Array.from({ length: count }, (_, i) => pod(`web-${i}`, { cpu: "1" }, spec, { labels }));
const placedWeb = (plan: ReturnType<typeof planFor>) =>
  plan.newNodeClaims.flatMap(({ pods }) => pods).filter((name) => name.startsWith("default/web")).length;

/** Faults around OR-ed terms of node affinity that generated scenarios of the kind "terms" have shown. */
it("each of OR-ed terms is tried without preferences, not only the last one", () => {
  const preferred = { weight: 1, preference: { matchExpressions: [only("karpenter.k8s.aws/instance-family", "m7i")] } };
  const nodeAffinity = {
    ...anyOf(only(ZONE, "zone-b"), only("team", "blue")),
    preferredDuringSchedulingIgnoredDuringExecution: [preferred],
  };
  expect(placedWeb(planFor({ pods: web(1, { affinity: { nodeAffinity } }) }))).toBe(1);
});

it.for([
  { name: "a zone that a planned node opens by another term counts as empty", cpu: "2", want: 1 },
  { name: "a zone that only another term allows does not count without a node", cpu: "0", want: 3 },
])("in a hard spread, $name", ({ cpu, want }) => {
  const blue = nodePool("blue", { labels: { team: "blue" }, requirements: [only(ZONE, "zone-b")], limits: { cpu } });
  const other = pod("other", { cpu: "1500m" }, { nodeSelector: { team: "blue" } });
  const affinity = { nodeAffinity: anyOf(only("team", "blue"), only(ZONE, "zone-a")) };
  const plan = planFor({ nodePools: [nodePool(), blue], pods: [other, ...web(3, { affinity, ...spread(ZONE) })] });
  expect(placedWeb(plan)).toBe(want);
});

it.for([
  { name: "pods with OR-ed terms that fit nowhere otherwise count only the domains that have a node", terms: 2, want: 3 },
  { name: "other pods count the domains that new nodes could have", terms: 1, want: 1 },
])("in a hard spread, $name", ({ terms, want }) => {
  const pools = [nodePool("amd", { requirements: [only(ARCH, "amd64")] }), nodePool("arm", { limits: { cpu: "0" } })];
  const affinity = { nodeAffinity: anyOf(...[only(ZONE, "zone-a"), only("team", "blue")].slice(0, terms)) };
  expect(placedWeb(planFor({ nodePools: pools, pods: web(3, { affinity, ...spread(ARCH) }) }))).toBe(want);
});

it.for([
  { name: "alone", terms: [{}], why: /has empty terms alone, which no node meets/ },
  { name: "beside one that no node meets", terms: [{ matchExpressions: [only("team", "blue")] }, { matchExpressions: [] }], why: /team/ },
  { name: "beside one that nodes meet", terms: [{}, { matchExpressions: [only(ZONE, "zone-a")] }], why: undefined },
])("no node is bought for an empty term, which no node meets: $name", ({ terms, why }) => {
  const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } };
  const plan = planFor({ pods: web(1, { affinity: { nodeAffinity } }) });
  expect(placedWeb(plan)).toBe(why === undefined ? 1 : 0);
  if (why !== undefined) expect(JSON.stringify(plan.podErrors)).toMatch(why);
});

it("of OR-ed terms the one with the cheapest nodes is taken, whatever their order", () => {
  const instanceTypes = [instanceType("big.metal", 64, 256), instanceType("small.large", 2, 8)];
  const affinity = { nodeAffinity: anyOf(only("karpenter.k8s.aws/instance-size", "metal"), only(ZONE, "zone-a", "zone-b", "zone-c")) };
  const plan = planFor({ instanceTypes, pods: web(1, { affinity }) });
  expect(plan.newNodeClaims.map(({ instanceTypes: [cheapest] }) => cheapest)).toEqual(["small.large"]);
});

it("of OR-ed terms the one that a heavier pool has nodes for comes before a cheaper one", () => {
  const pools = [nodePool("heavy", { weight: 10, labels: { team: "blue" }, requirements: [only(TYPE, "big.metal")] }), nodePool("light")];
  const instanceTypes = [instanceType("big.metal", 64, 256), instanceType("small.large", 2, 8)];
  const affinity = { nodeAffinity: anyOf(only("karpenter.k8s.aws/instance-size", "large"), only("team", "blue")) };
  const plan = planFor({ nodePools: pools, instanceTypes, pods: web(1, { affinity }) });
  expect(plan.newNodeClaims.map(({ nodePool: name }) => name)).toEqual(["heavy"]);
});

it("an existing node that meets one of OR-ed terms takes the pod before a new node of another term", () => {
  const { node, claim } = nodeWithClaim("node-1", { cpu: "16" });
  const there = only(ZONE, node.metadata.labels?.[ZONE] ?? "");
  const affinity = { nodeAffinity: anyOf({ ...there, operator: "NotIn" }, there) };
  const plan = planFor({ nodes: [node], nodeClaims: [claim], pods: web(2, { affinity }) });
  expect(plan.newNodeClaims).toEqual([]);
  expect(plan.existingNodes.flatMap(({ pods }) => pods)).toHaveLength(2);
});
