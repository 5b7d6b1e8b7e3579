import { describe, expect, it } from "vitest";
import type { LabelSelector } from "#core/model/kubernetes.ts";
import type { Pod, TopologySpreadConstraint } from "#core/model/pod.ts";
import { selects } from "#core/pods/label-selector.ts";
import { type SelectorSources, withDefaultConstraints } from "#core/scheduling/rules/default-constraints.ts";
import { solve } from "#core/scheduling/solve.ts";
import { pod, pods, snapshotOf, ZONES } from "#test/support/scheduling/builders.ts";

const ZONE: TopologySpreadConstraint = { maxSkew: 1, topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "DoNotSchedule" };
const NOTHING: SelectorSources = { services: [], replicationControllers: [], replicaSets: [], statefulSets: [] };
const WEB = { app: "web", tier: "front" };

const service = (name: string, selector?: Record<string, string>, namespace = "default") => ({
  metadata: { name, namespace },
  spec: selector === undefined ? {} : { selector },
});
const controlled = (kind: string, selector: LabelSelector) => ({
  metadata: { name: `${kind}-web`, namespace: "default" },
  spec: { selector, template: { spec: {} } },
});
const ownedBy = (kind: string, apiVersion = "apps/v1") => ({
  ownerReferences: [{ apiVersion, kind, name: `${kind}-web`, uid: "u", controller: true }],
});

/** The selector that a pod gets; undefined when it gets no constraint. */
function deduced(sources: Partial<SelectorSources>, metadata: Partial<Pod["metadata"]> = {}): LabelSelector | undefined {
  const [given] = withDefaultConstraints([pod("web", {}, {}, { labels: WEB, ...metadata })], [ZONE], { ...NOTHING, ...sources });
  return given?.spec.topologySpreadConstraints?.[0]?.labelSelector;
}

describe("the selector of default constraints", () => {
  it("the selector has the labels of the Services that select the pod", () => {
    const services = [service("a", { app: "web" }), service("b", { tier: "front" }), service("c", { app: "db" })];
    expect(deduced({ services })).toEqual({ matchLabels: WEB, matchExpressions: [] });
  });

  it.for([
    { name: "of other namespaces", services: [service("a", { app: "web" }, "other")] },
    { name: "without a selector", services: [service("a")] },
    { name: "that select everything and so say nothing", services: [service("a", {})] },
  ])("the selector ignores Services $name", ({ services }) => {
    expect(deduced({ services })).toBeUndefined();
  });

  it("the selector has the labels and expressions of the pod's ReplicaSet", () => {
    const exists = { key: "tier", operator: "Exists" } as const;
    const replicaSets = [controlled("ReplicaSet", { matchLabels: { app: "web" }, matchExpressions: [exists] })];
    expect(deduced({ replicaSets }, ownedBy("ReplicaSet"))).toEqual({
      matchLabels: {},
      matchExpressions: [{ key: "app", operator: "In", values: ["web"] }, exists],
    });
  });

  it("the selector has the labels of the pod's StatefulSet", () => {
    const statefulSets = [controlled("StatefulSet", { matchLabels: { app: "web" } })];
    expect(deduced({ statefulSets }, ownedBy("StatefulSet"))?.matchExpressions).toHaveLength(1);
  });

  it("the labels of the pod's ReplicationController override those of Services", () => {
    const replicationControllers = [
      { metadata: { name: "ReplicationController-web", namespace: "default" }, spec: { selector: { app: "rc" } } },
    ];
    const services = [service("a", { app: "web" })];
    expect(deduced({ services, replicationControllers }, ownedBy("ReplicationController", "v1"))?.matchLabels).toEqual({ app: "rc" });
  });

  it("the selector joins Services and controller", () => {
    const sources = {
      services: [service("a", { tier: "front" })],
      replicaSets: [controlled("ReplicaSet", { matchLabels: { app: "web" } })],
    };
    const selector = deduced(sources, ownedBy("ReplicaSet"));
    expect(selects(selector, WEB)).toBe(true);
    expect(selects(selector, { app: "web" })).toBe(false);
    expect(selects(selector, { tier: "front" })).toBe(false);
  });

  it.for([
    { name: "a Job's pods", metadata: ownedBy("Job", "batch/v1") },
    { name: "pods whose ReplicaSet is gone", metadata: ownedBy("ReplicaSet") },
    { name: "pods of a foreign kind of the same name", metadata: ownedBy("StatefulSet", "apps.kruise.io/v1") },
    {
      name: "pods that are owned but not controlled",
      metadata: { ownerReferences: [{ ...ownedBy("StatefulSet").ownerReferences[0], controller: false }] },
    },
  ])("no selector is deduced for $name that no Service selects", ({ metadata }) => {
    const statefulSets = [controlled("StatefulSet", { matchLabels: { app: "web" } })];
    expect(deduced({ statefulSets }, metadata as Partial<Pod["metadata"]>)).toBeUndefined();
  });

  it("the selector does not depend on the order in which objects are listed", () => {
    const services = [service("b", { app: "web", tier: "front" }), service("a", { tier: "front", app: "web" })];
    expect(JSON.stringify(deduced({ services }))).toBe(JSON.stringify(deduced({ services: [...services].reverse() })));
  });
});

describe("default constraints", () => {
  const services = [service("web", { app: "web" })];

  it("only pods without constraints of their own get the default constraints", () => {
    const own = pod("own", {}, { topologySpreadConstraints: [{ ...ZONE, topologyKey: "kubernetes.io/hostname" }] }, { labels: WEB });
    const [given] = withDefaultConstraints([own], [ZONE], { ...NOTHING, services });
    expect(given).toBe(own);
  });

  it("without default constraints no pod changes", () => {
    const all = [pod("web", {}, {}, { labels: WEB })];
    expect(withDefaultConstraints(all, [], { ...NOTHING, services })).toBe(all);
  });

  it("equal pods share the constraints object", () => {
    const [a, b] = withDefaultConstraints(pods(2, "web", {}, {}, { labels: WEB }), [ZONE], { ...NOTHING, services });
    expect(a?.spec.topologySpreadConstraints).toBe(b?.spec.topologySpreadConstraints);
  });

  it("pods without constraints are spread by the default constraints", () => {
    const snapshot = snapshotOf({ pods: pods(6, "web", { cpu: "1" }, {}, { labels: WEB }) });
    const zones = (all: readonly Pod[]) =>
      solve({ ...snapshot, pods: all })
        .newNodeClaims.flatMap(({ requirements, pods: its }) => {
          const { values = [] } = requirements.find(({ key }) => key === ZONE.topologyKey) ?? {};
          return its.map(() => values.join());
        })
        .sort();
    expect(new Set(zones(snapshot.pods)).size).toBe(1);
    expect(zones(withDefaultConstraints(snapshot.pods, [ZONE], { ...NOTHING, services }))).toEqual(ZONES.flatMap((zone) => [zone, zone]));
  });
});
