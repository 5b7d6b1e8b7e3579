import { describe, expect, it } from "vitest";
import type { Plan } from "#core/model/plan.ts";
import type { PodAffinityTerm, PodSpec, TopologySpreadConstraint } from "#core/model/pod.ts";
import { boundPod, nodePool, nodeWithClaim, planFor, pod, pods } from "#test/support/scheduling/builders.ts";

const ZONE = "topology.kubernetes.io/zone";
const web = { matchLabels: { app: "web" } };
const apart = (more: Partial<PodAffinityTerm> = {}): PodSpec => ({
  affinity: {
    podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: web, topologyKey: ZONE, ...more }] },
  },
});
const spread = (more: Partial<TopologySpreadConstraint> = {}): PodSpec => ({
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: ZONE, whenUnsatisfiable: "DoNotSchedule", labelSelector: web, ...more }],
});
const zonesOf = (plan: Plan) =>
  plan.newNodeClaims.map(({ requirements }) => requirements.find(({ key }) => key === ZONE)?.values ?? ["any"]).sort();
const { node, claim } = nodeWithClaim("n1", { cpu: "1" });
const full = { nodes: [node], nodeClaims: [claim] };
const webIn = (namespace: string) => boundPod("old", "n1", { cpu: "1" }, {}, { namespace, labels: { app: "web" } });

describe("anti-affinity by namespace", () => {
  const namespaces = [{ metadata: { name: "default", labels: { team: "a" } } }, { metadata: { name: "other", labels: { team: "b" } } }];
  it.for<{ name: string; term: Partial<PodAffinityTerm>; there: string; keepsAway: boolean }>([
    { name: "a term without namespaces selects pods of its own namespace", term: {}, there: "default", keepsAway: true },
    { name: "a term without namespaces selects no pods of others", term: {}, there: "other", keepsAway: false },
    { name: "a term selects pods of the namespaces that it lists", term: { namespaces: ["other"] }, there: "other", keepsAway: true },
    {
      name: "a term with a list does not select pods of its own namespace",
      term: { namespaces: ["other"] },
      there: "default",
      keepsAway: false,
    },
    {
      name: "a term selects pods of the namespaces that its selector matches",
      term: { namespaceSelector: { matchLabels: { team: "b" } } },
      there: "other",
      keepsAway: true,
    },
    {
      name: "a term selects no pods of namespaces that its selector does not match",
      term: { namespaceSelector: { matchLabels: { team: "b" } } },
      there: "default",
      keepsAway: false,
    },
    {
      name: "a term with an empty namespace selector selects pods of all namespaces",
      term: { namespaceSelector: {} },
      there: "other",
      keepsAway: true,
    },
  ])("$name", ({ term, there, keepsAway }) => {
    const plan = planFor({ ...full, namespaces, pods: [webIn(there), pod("new", { cpu: "1" }, apart(term))] });
    // The old pod is in zone-a.
    expect(zonesOf(plan)).toEqual(keepsAway ? [["zone-b", "zone-c"]] : [["zone-a", "zone-b", "zone-c"]]);
  });
});

describe("label keys", () => {
  const version = (v: string) => ({ labels: { app: "web", version: v } });
  const old = boundPod("old", "n1", { cpu: "1" }, {}, version("1"));

  it("matchLabelKeys leave pods of other generations out of a spread", () => {
    const one = pods(1, "new", { cpu: "1" }, spread({ matchLabelKeys: ["version"], minDomains: 3 }), version("2"));
    const three = pods(3, "new", { cpu: "1" }, spread({ matchLabelKeys: ["version"] }), version("2"));
    expect(planFor({ ...full, pods: [old, ...one] }).podErrors).toEqual({});
    // If the old pod counted, zone-a would be full for the third pod.
    expect(zonesOf(planFor({ ...full, pods: [old, ...three] }))).toEqual([["zone-a"], ["zone-b"], ["zone-c"]]);
    const counted = pods(3, "new", { cpu: "1" }, spread(), version("2"));
    expect(zonesOf(planFor({ ...full, pods: [old, ...counted] })).flat()).not.toEqual(["zone-a", "zone-b", "zone-c"]);
  });

  it("mismatchLabelKeys restrict anti-affinity to pods of other generations", () => {
    const term = { mismatchLabelKeys: ["version"] };
    expect(zonesOf(planFor({ ...full, pods: [old, pod("new", { cpu: "1" }, apart(term), version("2"))] }))).toEqual([["zone-b", "zone-c"]]);
    expect(zonesOf(planFor({ ...full, pods: [old, pod("new", { cpu: "1" }, apart(term), version("1"))] }))).toEqual([
      ["zone-a", "zone-b", "zone-c"],
    ]);
  });
});

describe("nodes that a spread counts", () => {
  const labels = { labels: { app: "web" } };
  const tainted = nodeWithClaim("n2", { cpu: "1", labels: { [ZONE]: "zone-d" }, taints: [{ key: "gpu", effect: "NoSchedule" }] });
  const cluster = (spec: PodSpec) => ({
    nodes: [tainted.node],
    nodeClaims: [tainted.claim],
    pods: pods(4, "web", { cpu: "1" }, spec, labels),
  });

  it("a spread counts nodes with taints that the pod does not tolerate, unless nodeTaintsPolicy is Honor", () => {
    // zone-d is empty and the pods cannot use it, so the fourth pod exceeds maxSkew if zone-d counts.
    expect(Object.keys(planFor(cluster(spread())).podErrors)).toHaveLength(1);
    expect(planFor(cluster(spread({ nodeTaintsPolicy: "Honor" }))).podErrors).toEqual({});
  });

  it("a spread counts nodes that the pod's node affinity allows, and all nodes if nodeAffinityPolicy is Ignore", () => {
    const open = nodeWithClaim("n3", { cpu: "1", labels: { [ZONE]: "zone-d", "kubernetes.io/arch": "arm64" } });
    const occupant = boundPod("occupant", "n3", { cpu: "1" });
    const amdOnly = (policy?: "Honor" | "Ignore"): PodSpec => ({
      nodeSelector: { "kubernetes.io/arch": "amd64" },
      ...spread(policy === undefined ? {} : { nodeAffinityPolicy: policy }),
    });
    const plan = (policy?: "Honor" | "Ignore") =>
      planFor({
        nodes: [open.node],
        nodeClaims: [open.claim],
        nodePools: [nodePool()],
        pods: [occupant, ...pods(4, "web", { cpu: "1" }, amdOnly(policy), labels)],
      });
    expect(plan().podErrors).toEqual({});
    expect(plan("Honor").podErrors).toEqual({});
    expect(Object.keys(plan("Ignore").podErrors)).toHaveLength(1);
  });
});
