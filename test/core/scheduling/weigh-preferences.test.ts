import { describe, expect, it } from "vitest";
import type { PodSpec, TopologySpreadConstraint } from "#core/model/pod.ts";
import { solve } from "#core/scheduling/solve.ts";
import { preferencesGivenUp, type WeighOptions, weighPreferences } from "#core/scheduling/weigh-preferences.ts";
import { nodeWithClaim, pod, snapshotOf } from "../../support/scheduling/builders.ts";

const ZONE = "topology.kubernetes.io/zone";
const HOST = "kubernetes.io/hostname";
const WEIGH = { preferencePolicy: "Weigh" } as const;

const spread = (topologyKey: string, whenUnsatisfiable: TopologySpreadConstraint["whenUnsatisfiable"] = "ScheduleAnyway") => ({
  ...{ maxSkew: 1, topologyKey, whenUnsatisfiable, labelSelector: { matchLabels: { app: "web" } } },
});

/** Small pods of one ReplicaSet; a node holds many. */
const web = (count: number, spec: Partial<PodSpec>, owner = "web") =>
  Array.from({ length: count }, (_, i) => {
    const made = pod(`${owner}-${i}`, { cpu: "100m" }, spec, { labels: { app: "web" } });
    const ownerReferences = [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: owner, uid: `uid-${owner}`, controller: true }];
    return { ...made, metadata: { ...made.metadata, ownerReferences } };
  });

const weigh = (pods: ReturnType<typeof web>, options: WeighOptions = WEIGH) => weighPreferences(snapshotOf({ pods }), options);
const nodesFor = (pods: ReturnType<typeof web>, options: WeighOptions = WEIGH) =>
  solve(weigh(pods, options).snapshot, options).newNodeClaims.length;
const skews = (pods: ReturnType<typeof web>, options: WeighOptions = WEIGH) =>
  Object.fromEntries(
    weigh(pods, options).snapshot.pods[0]?.spec.topologySpreadConstraints?.map(({ topologyKey, maxSkew }) => [topologyKey, maxSkew]) ?? [],
  );

describe("PREFERENCE_POLICY=Weigh", () => {
  const each = web(12, { topologySpreadConstraints: [spread(HOST)] });

  it("pods that prefer a node each share nodes, when that costs much less", () => {
    expect(nodesFor(each, { preferencePolicy: "Respect" })).toBe(12);
    expect(nodesFor(each)).toBe(1);
    expect(weigh(each).givenUp).toMatchObject([{ pods: 12, rules: [`the spread over ${HOST}`] }]);
  });

  it("a preference is kept up to the share of the cost that is given", () => {
    const { costShare = 0 } = weigh(each).givenUp[0] ?? {};
    expect(weigh(each, { ...WEIGH, preferenceCostShare: costShare + 0.01 }).givenUp).toEqual([]);
    expect(weigh(each, { ...WEIGH, preferenceCostShare: costShare - 0.01 }).givenUp).toHaveLength(1);
  });

  it("of several preferences the dear one is loosened, and the cheap one is kept", () => {
    const both = web(12, { topologySpreadConstraints: [spread(HOST), spread(ZONE)] });
    expect(skews(both, { ...WEIGH, preferenceCostShare: 2.5 })).toEqual({ [ZONE]: 1, [HOST]: 4 });
  });

  it("a spread that costs too much gets the smallest maxSkew that the share pays for", () => {
    const nodes = [0.1, 1.6, 2.7, 6, 12].map((preferenceCostShare) => nodesFor(each, { ...WEIGH, preferenceCostShare }));
    expect(nodes).toEqual([1, 2, 3, 6, 12]);
    expect(weigh(each, { ...WEIGH, preferenceCostShare: 2.7 }).givenUp).toMatchObject([
      { rules: [], loosened: [`the spread over ${HOST} to maxSkew 4`] },
    ]);
  });

  it("a hard spread keeps its maxSkew when the soft one over the same key is loosened", () => {
    const pods = web(12, { topologySpreadConstraints: [{ ...spread(ZONE, "DoNotSchedule"), maxSkew: 1 }, spread(HOST)] });
    expect(skews(pods, { ...WEIGH, preferenceCostShare: 2.7 })[ZONE]).toBe(1);
  });

  it("what pods require is kept, whatever it costs", () => {
    const hard = web(12, { topologySpreadConstraints: [spread(HOST, "DoNotSchedule"), spread(HOST)] });
    expect(nodesFor(hard)).toBe(12);
  });

  it.for([
    { name: "preferred anti-affinity to pods", affinity: { podAntiAffinity: preferred({ topologyKey: HOST }) }, dear: true },
    { name: "preferred affinity to pods", affinity: { podAffinity: preferred({ topologyKey: HOST }) }, dear: false },
    { name: "preferred affinity to dear nodes", affinity: { nodeAffinity: node("m.large") }, dear: true },
    { name: "preferred affinity to cheap nodes", affinity: { nodeAffinity: node("m.small") }, dear: false },
  ])("$name is given up when it is dear: $dear", ({ affinity, dear }) => {
    expect(weigh(web(12, { affinity } as never)).givenUp.length).toBe(dear ? 1 : 0);
  });

  it("controllers are weighed one by one", () => {
    const calm = web(12, { topologySpreadConstraints: [spread(ZONE)] }, "calm");
    const { snapshot, givenUp } = weigh([...each, ...calm], { ...WEIGH, preferenceCostShare: 2.5 });
    expect(givenUp.map(({ example }) => example)).toEqual(["default/web-0"]);
    expect(snapshot.pods.at(-1)).toBe(calm.at(-1));
  });

  it("the verdict does not depend on which pods wait or which nodes there are", () => {
    const running = each.map((one, i) => (i % 2 === 0 ? { ...one, spec: { ...one.spec, nodeName: "n1" } } : one));
    const { node: present, claim } = nodeWithClaim("n1");
    const cluster = snapshotOf({ nodes: [present], nodeClaims: [claim], pods: running });
    expect(weighPreferences(cluster, WEIGH).givenUp).toEqual(weigh(each).givenUp);
  });

  it("other policies change nothing", () => {
    const snapshot = snapshotOf({ pods: each });
    expect(weighPreferences(snapshot, {}).snapshot).toBe(snapshot);
    expect(weighPreferences(snapshot, { preferencePolicy: "Ignore" }).snapshot).toBe(snapshot);
  });

  it("what is given up is told in a sentence", () => {
    const given = { example: "default/web-0", pods: 30, rules: [`the spread over ${HOST}`], loosened: [], costShare: 3.456 };
    expect(preferencesGivenUp(given)).toBe(
      `30 pods such as default/web-0 give up the spread over ${HOST}: all preferences would add 346 % to the cost of the nodes`,
    );
    expect(preferencesGivenUp({ ...given, pods: 1, loosened: [`the spread over ${ZONE} to maxSkew 8`] })).toBe(
      `Pod default/web-0 gives up the spread over ${HOST} and loosens the spread over ${ZONE} to maxSkew 8: all preferences would add 346 % to the cost of the nodes`,
    );
  });
});

function preferred(term: { readonly topologyKey: string }) {
  const podAffinityTerm = { ...term, labelSelector: { matchLabels: { app: "web" } } };
  return { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm }] };
}

function node(type: string) {
  const matchExpressions = [{ key: "node.kubernetes.io/instance-type", operator: "In", values: [type] }];
  return { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: { matchExpressions } }] };
}
