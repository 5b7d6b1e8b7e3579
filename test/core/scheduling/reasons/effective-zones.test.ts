import { describe, expect, it } from "vitest";
import type { PodSpec } from "#core/model/pod.ts";
import { podsByEffectiveZone } from "#core/scheduling/reasons/effective-zones.ts";
import { boundPod, nodePool, nodeWithClaim, pod, pods, type Scenario, snapshotOf, ZONES } from "#test/support/scheduling/builders.ts";

const ZONE = "topology.kubernetes.io/zone";
const LABELS = { labels: { app: "web" } };
const labelSelector = { matchLabels: { app: "web" } };
const zoneIn = (...values: string[]): PodSpec => terms([{ key: ZONE, operator: "In", values }]);
function terms(...all: { key: string; operator: "In" | "NotIn"; values: string[] }[][]): PodSpec {
  const nodeSelectorTerms = all.map((matchExpressions) => ({ matchExpressions }));
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } };
}
const near: PodSpec = {
  affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: ZONE, labelSelector }] } },
};
const apart: PodSpec = {
  affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: ZONE, labelSelector }] } },
};
const spread = (whenUnsatisfiable: "DoNotSchedule" | "ScheduleAnyway"): PodSpec => ({
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: ZONE, whenUnsatisfiable, labelSelector }],
});
/** Pods of app=web run in these zones, one on each node. */
function runningIn(...zones: string[]): Partial<Scenario> {
  const made = zones.map((zone, i) => nodeWithClaim(`n${i}`, { labels: { [ZONE]: zone } }));
  return {
    nodes: made.map(({ node }) => node),
    nodeClaims: made.map(({ claim }) => claim),
    pods: zones.map((_, i) => boundPod(`web-${i}`, `n${i}`, { cpu: "1" }, {}, LABELS)),
  };
}
function volumeIn(...zones: string[]): Partial<Scenario> {
  const metadata = { name: "data", annotations: { "pv.kubernetes.io/bind-completed": "yes" } };
  const nodeSelectorTerms = [{ matchExpressions: [{ key: "topology.ebs.csi.aws.com/zone", operator: "In", values: zones }] }];
  return {
    persistentVolumeClaims: [{ metadata, spec: { volumeName: "pv-1" }, status: { phase: "Bound" } }],
    persistentVolumes: [{ metadata: { name: "pv-1" }, spec: { nodeAffinity: { required: { nodeSelectorTerms } } } }],
  };
}
const mounts: PodSpec = { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }] };

describe("the zone that a pod may go to", () => {
  it.for<{ name: string; spec: PodSpec; around?: Partial<Scenario>; zone: string }>([
    { name: "no rule leaves it open", spec: {}, zone: "flexible" },
    { name: "a node selector names it", spec: { nodeSelector: { [ZONE]: "zone-b" } }, zone: "zone-b" },
    { name: "affinity for one zone names it", spec: zoneIn("zone-c"), zone: "zone-c" },
    { name: "affinity for two zones leaves it open", spec: zoneIn("zone-a", "zone-c"), zone: "flexible" },
    {
      name: "of OR-ed terms each counts",
      spec: terms([{ key: ZONE, operator: "In", values: ["zone-a"] }], [{ key: ZONE, operator: "In", values: ["zone-b"] }]),
      zone: "flexible",
    },
    { name: "an excluded zone leaves it open", spec: terms([{ key: ZONE, operator: "NotIn", values: ["zone-a"] }]), zone: "flexible" },
    {
      name: "rules that exclude each other leave none",
      spec: { nodeSelector: { [ZONE]: "zone-a" }, ...zoneIn("zone-b") },
      zone: "none",
    },
    { name: "a volume names it", spec: mounts, around: volumeIn("zone-b"), zone: "zone-b" },
    {
      name: "a volume of another zone than the selector's leaves none",
      spec: { ...mounts, nodeSelector: { [ZONE]: "zone-a" } },
      around: volumeIn("zone-b"),
      zone: "none",
    },
    {
      name: "a hard spread leaves the zone that has fewest",
      spec: spread("DoNotSchedule"),
      around: runningIn("zone-a", "zone-b"),
      zone: "zone-c",
    },
    { name: "a soft spread leaves it open", spec: spread("ScheduleAnyway"), around: runningIn("zone-a", "zone-b"), zone: "flexible" },
    { name: "affinity to pods names theirs", spec: near, around: runningIn("zone-b"), zone: "zone-b" },
    { name: "anti-affinity leaves the zone without such pods", spec: apart, around: runningIn("zone-a", "zone-c"), zone: "zone-b" },
    { name: "anti-affinity to pods of each zone leaves none", spec: apart, around: runningIn(...ZONES), zone: "none" },
  ])("$name", ({ spec, around = {}, zone }) => {
    const one = pod("new", { cpu: "1" }, spec, LABELS);
    const snapshot = snapshotOf({ nodePools: [nodePool()], ...around, pods: [...(around.pods ?? []), one] });
    expect([...podsByEffectiveZone(snapshot, [one], {})]).toEqual([[zone, 1]]);
  });

  it("all replicas count", () => {
    const all = [...pods(3, "a", { cpu: "1" }, { nodeSelector: { [ZONE]: "zone-a" } }), ...pods(2, "free")];
    expect(Object.fromEntries(podsByEffectiveZone(snapshotOf({ pods: all }), all, {}))).toEqual({ "zone-a": 3, flexible: 2 });
  });
});
