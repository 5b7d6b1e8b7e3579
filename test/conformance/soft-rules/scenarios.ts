import type { Pod, PodSpec, TopologySpreadConstraint } from "#core/model/pod.ts";
import { settingOf } from "../../bench/workloads.ts";
import type { RawJson } from "../../support/scheduling/judge-rules.ts";
import { random } from "../generate/random.ts";

const HOSTNAME = "kubernetes.io/hostname";
const ZONE = "topology.kubernetes.io/zone";
const SOFT_TAINT = { key: "example.com/batch", effect: "PreferNoSchedule" };

/**
 * A scenario of pending Deployments with soft rules as charts state them: spreads over zones, over hosts or both,
 * anti-affinity by host, affinity to another Deployment, a preferred architecture. One NodePool, and in each third
 * scenario a second one with a PreferNoSchedule taint; each 6th type of the AWS catalogue. The same number gives the
 * same scenario.
 */
export function softScenario(number: number): RawJson {
  const dice = random(`soft ${number}`);
  const { nodePools, instanceTypes } = settingOf("deployments", 6);
  const apps = Array.from({ length: dice.int(1, 6) }, (_, i) => `app-${i}`);
  const pods = apps.flatMap((app): Pod[] => {
    const cpu = dice.pick([39, 100, 250, 500, 1000, 2000]);
    const requests = { cpu: `${cpu}m`, memory: `${Math.round(cpu * dice.pick([1, 2, 4]))}Mi` };
    const selector = { matchLabels: { app } };
    const spread = (topologyKey: string): TopologySpreadConstraint => ({
      ...{ maxSkew: 1, topologyKey, whenUnsatisfiable: "ScheduleAnyway", labelSelector: selector },
    });
    const apart = { weight: 100, podAffinityTerm: { topologyKey: HOSTNAME, labelSelector: selector } };
    const near = { weight: 50, podAffinityTerm: { topologyKey: ZONE, labelSelector: { matchLabels: { app: dice.pick(apps) } } } };
    const arm = {
      weight: 10,
      preference: { matchExpressions: [{ key: "kubernetes.io/arch", operator: "In" as const, values: ["arm64"] }] },
    };
    const preferred = <T>(term: T) => ({ preferredDuringSchedulingIgnoredDuringExecution: [term] });
    const spec = dice.pick<PodSpec>([
      { topologySpreadConstraints: [spread(ZONE)] },
      { topologySpreadConstraints: [spread(HOSTNAME)] },
      { topologySpreadConstraints: [spread(ZONE), spread(HOSTNAME)] },
      { affinity: { podAntiAffinity: preferred(apart) } },
      { affinity: { podAffinity: preferred(near) } },
      { affinity: { nodeAffinity: preferred(arm) }, topologySpreadConstraints: [spread(ZONE)] },
    ]);
    const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: app, uid: `uid-${app}`, controller: true };
    return Array.from({ length: dice.pick([2, 3, 3, 5, 10, 20, 40]) }, (_, i) => ({
      metadata: { name: `${app}-${i}`, namespace: "default", uid: `${app}-${i}`, labels: { app }, ownerReferences: [owner] },
      spec: { ...spec, containers: [{ name: "main", resources: { requests } }] },
      status: { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }] },
    }));
  });
  const [pool] = nodePools as readonly RawJson[];
  const batch = { ...pool, metadata: { ...pool.metadata, name: "batch", uid: "uid-batch" }, spec: structuredClone(pool.spec) };
  batch.spec.template.spec.taints = [SOFT_TAINT];
  return {
    ...{ nodePools: number % 3 === 0 ? [pool, batch] : [pool], instanceTypes },
    ...{ nodes: [], nodeClaims: [], daemonSets: [], pods },
  };
}
