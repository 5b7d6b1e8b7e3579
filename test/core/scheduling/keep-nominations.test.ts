import { describe, expect, it } from "vitest";
import { rfc3339 } from "#core/model/conditions.ts";
import { ZONE } from "#core/model/labels.ts";
import type { Node } from "#core/model/node.ts";
import { INTENDED, type NodeClaim } from "#core/model/node-claim.ts";
import type { Pod } from "#core/model/pod.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { keepNominations } from "#core/scheduling/keep-nominations.ts";
import { pendingPods } from "#core/scheduling/solve.ts";
import { boundPod, nodeWithClaim, pod, snapshotOf } from "../../support/scheduling/builders.ts";

/** Starting nodes with the room for `cpu` each, and pods that are nominated to them ("default-NAME"). */
function starting(nodes: Readonly<Record<string, string>>, pods: readonly Pod[], nominated: Readonly<Record<string, string>>): Snapshot {
  const pairs = Object.entries(nodes).map(([name, cpu]) => nodeWithClaim(name, { cpu, initialized: false }));
  return snapshotOf(
    { nodes: pairs.map(({ node }) => node), nodeClaims: pairs.map(({ claim }) => claim), pods },
    { nominated: new Map(Object.entries(nominated).map(([name, node]) => [`uid-${name}`, `default-${node}`])) },
  );
}

const initialized = ({ metadata, ...node }: Node): Node => ({
  ...node,
  metadata: { ...metadata, labels: { ...metadata.labels, "karpenter.sh/initialized": "true" } },
});

/** Where pods are nominated to afterwards, and which are left to plan for. */
function outcomeOf(snapshot: Snapshot) {
  const kept = keepNominations(snapshot);
  const places = [...kept.nominated].map(([uid, claim]) => [uid.slice("uid-".length), claim.slice("default-".length)]);
  return { places: Object.fromEntries(places), planned: pendingPods(kept).pods.map(({ metadata }) => metadata.name) };
}

describe("nominations to nodes that start", () => {
  it("a pod keeps the NodeClaim that it was planned for when another one would do, too", () => {
    const snapshot = starting({ a: "2", b: "2" }, [pod("x"), pod("y")], { x: "b", y: "a" });
    expect(outcomeOf(snapshot)).toEqual({ places: { x: "b", y: "a" }, planned: [] });
  });

  it("a pod whose place was taken gets the place of the pod that took it", () => {
    const snapshot = starting({ a: "2", b: "2" }, [boundPod("x", "a", { cpu: "2" }), pod("y", { cpu: "2" })], { x: "b", y: "a" });
    expect(outcomeOf(snapshot)).toEqual({ places: { y: "b" }, planned: [] });
  });

  it("a displaced pod gives up its preferences before a node is bought for it", () => {
    const apart = { maxSkew: 1, topologyKey: "kubernetes.io/hostname", whenUnsatisfiable: "ScheduleAnyway", labelSelector: {} } as const;
    const spread = { topologySpreadConstraints: [apart] };
    const there = [
      boundPod("x", "a", { cpu: "2" }, spread),
      boundPod("w", "b", { cpu: "1" }, spread),
      boundPod("v", "b", { cpu: "1" }, spread),
    ];
    const snapshot = starting({ a: "2", b: "4" }, [...there, pod("y", { cpu: "2" }, spread)], { x: "b", y: "a" });
    expect(outcomeOf(snapshot)).toEqual({ places: { y: "b" }, planned: [] });
  });

  it("places are exchanged between pods that wait when a displaced pod does not fit into the room that is left", () => {
    const snapshot = starting({ a: "3", b: "3" }, [boundPod("x", "a"), pod("y", { cpu: "3" }), pod("z", { cpu: "2" })], {
      ...{ x: "b", y: "a", z: "b" },
    });
    expect(outcomeOf(snapshot)).toEqual({ places: { y: "b", z: "a" }, planned: [] });
  });

  it("a pod that fits into no room that is left is planned again", () => {
    const snapshot = starting({ a: "2", b: "2" }, [boundPod("stranger", "a"), pod("x", { cpu: "2" }), pod("y", { cpu: "2" })], {
      ...{ x: "a", y: "b" },
    });
    expect(outcomeOf(snapshot)).toEqual({ places: { y: "b" }, planned: ["x"] });
  });

  it.for([
    { name: "a node of its plan is still to start", age: 59_000, otherAge: 59_000, planned: [] },
    { name: "the start of a node takes too long", age: 60_000, otherAge: 60_000, planned: ["x"] },
    { name: "only a node of another plan is still to start", age: 59_000, otherAge: 10_000, planned: ["x"] },
  ])("a pod without a place, while $name, is planned: $planned", ({ age, otherAge, planned }) => {
    const taken = [boundPod("stranger", "a", { cpu: "2" }), pod("x", { cpu: "2" }), pod("y", { cpu: "2" })];
    const snapshot = starting({ a: "2", b: "2" }, taken, { x: "a", y: "b" });
    const [a, b] = snapshot.nodeClaims.map((claim, i) => {
      const creationTimestamp = rfc3339(snapshot.now - (i === 0 ? age : otherAge));
      return { ...claim, metadata: { ...claim.metadata, creationTimestamp } };
    });
    const up = snapshot.nodes.map((node, i) => (i === 0 ? initialized(node) : node));
    expect(outcomeOf({ ...snapshot, nodes: up, nodeClaims: [a, b] as NodeClaim[] })).toEqual({ places: { y: "b" }, planned });
  });

  it("a rule between pods that no longer holds on the node ends the nomination", () => {
    const apart = { labelSelector: { matchLabels: { app: "x" } }, topologyKey: "kubernetes.io/hostname" };
    const alone = { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [apart] } } };
    const snapshot = starting({ a: "4" }, [boundPod("x", "a", { cpu: "1" }, {}, { labels: { app: "x" } }), pod("y", { cpu: "1" }, alone)], {
      y: "a",
    });
    expect(outcomeOf(snapshot)).toEqual({ places: {}, planned: ["y"] });
  });

  it("pods with a hard spread keep their places, whatever the order in which they are looked at", () => {
    const zones = { maxSkew: 1, topologyKey: ZONE, whenUnsatisfiable: "DoNotSchedule", labelSelector: {} } as const;
    const pods = ["p", "q", "r", "s"].map((name) => pod(name, { cpu: "1" }, { topologySpreadConstraints: [zones] }));
    const nominated = { p: "a", q: "a", r: "b", s: "b" };
    const { nodes, ...others } = starting({ a: "2", b: "2" }, pods, nominated);
    const inZones = nodes.map(({ metadata, ...node }) => ({
      ...node,
      metadata: { ...metadata, labels: { ...metadata.labels, [ZONE]: `zone-${metadata.name}` } },
    }));
    expect(outcomeOf({ ...others, nodes: inZones })).toEqual({ places: nominated, planned: [] });
  });

  it("a bound pod needs no place, unless its node is being removed", () => {
    const { places } = outcomeOf(starting({ a: "2", b: "2" }, [boundPod("x", "a")], { x: "b" }));
    const snapshot = starting({ a: "2", b: "2" }, [boundPod("x", "a")], { x: "b" });
    const leaving = outcomeOf({ ...snapshot, disrupting: new Set(["default-a"]) });
    expect([places, leaving.places]).toEqual([{}, { x: "b" }]);
  });

  it("an evicted pod that still ends needs no place, because its successor is planned for", () => {
    const ending = boundPod("x", "a", { cpu: "1" }, {}, { deletionTimestamp: "2026-01-01T00:00:00Z" });
    const snapshot = starting({ a: "2", b: "2" }, [ending], { x: "b" });
    expect(outcomeOf({ ...snapshot, disrupting: new Set(["default-a"]) }).places).toEqual({});
  });

  it("pods of a NodeClaim that is being removed are planned again", () => {
    const snapshot = starting({ a: "2" }, [pod("x")], { x: "a" });
    expect(outcomeOf({ ...snapshot, disrupting: new Set(["default-a"]) })).toEqual({ places: {}, planned: ["x"] });
  });

  it("nominations to a NodeClaim that is not launched are not checked, because its node is not known", () => {
    const { nodeClaims, ...others } = starting({ a: "1" }, [pod("x", { cpu: "8" })], { x: "a" });
    const intended = nodeClaims.map((claim) => ({ ...claim, status: { ...claim.status, providerID: `${INTENDED}default-a` } }));
    expect(outcomeOf({ ...others, nodes: [], nodeClaims: intended }).places).toEqual({ x: "a" });
  });
});
