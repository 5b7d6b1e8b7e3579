import { describe, expect, it } from "vitest";
import { checkScenario } from "#cli/scenario/check.ts";
import { judge } from "../../support/scheduling/check-plan.ts";
import { nameOf } from "../../support/scheduling/judge-rules.ts";
import { type ClusterScenario, underutilizedCluster } from "./cluster.ts";
import { CLUSTER_KINDS, type ClusterKindName } from "./kinds.ts";

const KINDS = Object.keys(CLUSTER_KINDS) as ClusterKindName[];
const cluster = (kind: ClusterKindName, seed = 1): ClusterScenario => underutilizedCluster({ kind, seed, nodes: 30, families: 8 });
const textOf = (kind: ClusterKindName): string => JSON.stringify([1, 2, 3].map((seed) => cluster(kind, seed)));

/** The broken rules of the running pods, checked as if a plan had just placed them. */
function unlawful({ pods, ...rest }: ClusterScenario): readonly string[] {
  const daemons = pods.filter(({ metadata }) => metadata.namespace === "kube-system");
  const workers = pods.filter(({ metadata }) => metadata.namespace !== "kube-system");
  const existingNodes = rest.nodes.map(({ metadata: { name } }) => ({
    name,
    pods: workers.filter(({ spec }) => spec.nodeName === name).map(nameOf),
  }));
  const waiting = workers.map((pod) => ({ ...pod, spec: { ...pod.spec, nodeName: undefined } }));
  return judge({ ...rest, pods: [...daemons, ...waiting] }, { newNodeClaims: [], existingNodes, podErrors: {} }).map(({ text }) => text);
}

describe.for(KINDS)("underutilizedCluster of kind %s", (kind) => {
  const scenario = cluster(kind);

  it("equal requests give equal clusters, and another seed gives another cluster", () => {
    expect(cluster(kind)).toEqual(scenario);
    expect(cluster(kind, 2)).not.toEqual(scenario);
  });

  it("the generated cluster is a valid scenario file", () => expect(() => checkScenario(scenario)).not.toThrow());

  it("the cluster has the requested number of nodes, and all names are unique", () => {
    expect(scenario.nodes).toHaveLength(30);
    for (const list of [scenario.nodes, scenario.nodeClaims, scenario.pods, scenario.nodePools]) {
      expect(new Set(list.map(nameOf)).size).toBe(list.length);
    }
  });

  it("no pod of the cluster breaks a rule of its node", () => expect(unlawful(scenario)).toEqual([]));
});

it("a generated cluster has at most the requested number of pods", () => {
  const { pods } = underutilizedCluster({ kind: "quarter-full", seed: 1, nodes: 30, families: 8, pods: 25 });
  expect(pods).toHaveLength(25);
});

it.for([
  ["many-pools", "taints"],
  ["spot-mix", '"karpenter.sh/capacity-type":"spot"'],
  ["constrained", "DoNotSchedule"],
  ["constrained", "podAntiAffinity"],
  ["constrained", "podAffinity"],
  ["guarded", "karpenter.sh/do-not-disrupt"],
  ["guarded", '"disruptionsAllowed":0'],
  ["budgeted", '"reasons"'],
  ["daemons", "DaemonSet"],
] as const)("a cluster of kind %s has %s somewhere", ([kind, feature]) => expect(textOf(kind)).toContain(feature));
