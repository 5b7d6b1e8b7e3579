import { expect, it } from "vitest";
import type { PodSpec } from "#core/model/pod.ts";
import { nodePool, planFor, pod } from "../../support/scheduling/builders.ts";

const ZONE = "topology.kubernetes.io/zone";
const near = (app: string): PodSpec => ({
  affinity: {
    podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: ZONE, labelSelector: { matchLabels: { app } } }] },
  },
});
const pools = [nodePool("app"), nodePool("cache", { requirements: [{ key: "team", operator: "In", values: ["cache"] }] })];
/** On a node of its own, which no affinity or spread of its own ties to a zone. */
const cache = pod("cache", { cpu: "1" }, { nodeSelector: { team: "cache" } }, { labels: { app: "cache" } });

const zoneOf = ({ newNodeClaims }: ReturnType<typeof planFor>, name: string): readonly string[] | undefined =>
  newNodeClaims
    .find(({ pods }) => pods.includes(`default/${name}`))
    ?.requirements.filter(({ key }) => key === ZONE)
    .flatMap(({ values }) => values ?? []);

it("a pod with zone affinity for a pod that gets a new node is planned in the same run, in that node's zone", () => {
  const web = pod("web", { cpu: "1" }, { nodeSelector: { "karpenter.sh/nodepool": "app" }, ...near("cache") });
  const plan = planFor({ nodePools: pools, pods: [cache, web] });
  expect(plan.podErrors).toEqual({});
  expect(zoneOf(plan, "web")).toHaveLength(1);
  expect(zoneOf(plan, "cache")).toEqual(zoneOf(plan, "web"));
});

it("a pod that its own zone affinity selects begins no other zone than a planned pod which that affinity selects too", () => {
  const spec = { nodeSelector: { "karpenter.sh/nodepool": "app", [ZONE]: "zone-b" }, ...near("cache") };
  const follower = pod("follower", { cpu: "500m" }, spec, { labels: { app: "cache" } });
  const plan = planFor({ nodePools: pools, pods: [cache, follower] });
  expect([zoneOf(plan, "cache"), zoneOf(plan, "follower")]).toEqual([["zone-b"], ["zone-b"]]);
});

it("a claim keeps its zones where the pods with the affinity have others to be near", () => {
  const other = pod(
    "other",
    { cpu: "1" },
    { nodeSelector: { "karpenter.sh/nodepool": "app", [ZONE]: "zone-b" } },
    { labels: { app: "cache" } },
  );
  const web = pod("web", { cpu: "1" }, { nodeSelector: { "karpenter.sh/nodepool": "app" }, ...near("cache") });
  const plan = planFor({ nodePools: pools, pods: [cache, other, web] });
  expect(zoneOf(plan, "web")).toEqual(["zone-b"]);
  expect(zoneOf(plan, "cache")).toEqual([]);
});
