import type { NodePool } from "#core/model/node-pool.ts";
import type { Pod, PodSpec } from "#core/model/pod.ts";
import type { DaemonSet, PodDisruptionBudget } from "#core/model/workloads.ts";
import type { Random } from "../generate/random.ts";
import type { ClusterKind } from "./kinds.ts";

export const ZONE = "topology.kubernetes.io/zone";
export const HOSTNAME = "kubernetes.io/hostname";
const MIB = 2 ** 20;

/** Identical pods, and the constraints of their placement. */
export interface Workload {
  readonly app: string;
  readonly replicas: number;
  /** Requests in millicores and bytes. */
  readonly cpu: number;
  readonly memory: number;
  readonly spec: PodSpec;
  /** Replicas share no host. */
  readonly apart: boolean;
  /** Replicas are placed in the zone with the fewest replicas, or all in one zone. */
  readonly zones: "any" | "even" | "one";
  readonly isBudgeted: boolean;
}

/** The workload of number `i`; `scale` is how many hundreds of nodes there are. */
export function clusterWorkload(random: Random, kind: ClusterKind, i: number, pools: readonly NodePool[], scale: number): Workload {
  const app = `app-${i}`;
  const [cpu, memory] = [random.pick(kind.cpu), random.pick(kind.memory)];
  const resources = { requests: { cpu: `${cpu}m`, memory: `${memory}Mi` } };
  const team = random.pick(pools).spec.template.metadata?.labels?.["team"];
  const shape = topology(random, kind, app);
  const selector = random.chance(kind.selectors) && shape.zones === "any" ? oneSelector(random) : {};
  return {
    app,
    replicas: random.int(1, Math.max(2, Math.round(kind.replicas * Math.sqrt(scale)))),
    cpu,
    memory: memory * MIB,
    ...shape,
    spec: {
      containers: [{ name: "main", image: "app", resources }],
      ...shape.spec,
      ...(team === undefined
        ? selector
        : {
            nodeSelector: { team },
            tolerations: [{ key: "team", operator: "Equal" as const, value: team, effect: "NoSchedule" as const }],
          }),
    },
    isBudgeted: random.chance(kind.budgetsOfPods),
  };
}

function oneSelector(random: Random): PodSpec {
  return {
    nodeSelector: random.pick([
      { [ZONE]: random.pick(["us-west-2a", "us-west-2b"]) },
      { "kubernetes.io/arch": random.pick(["amd64", "arm64"]) },
      { "karpenter.sh/capacity-type": random.pick(["on-demand", "spot"]) },
    ]),
  };
}

/** Topology constraints between the replicas. */
function topology(random: Random, kind: ClusterKind, app: string): Pick<Workload, "spec" | "apart" | "zones"> {
  const labelSelector = { matchLabels: { app } };
  const spread = (topologyKey: string, whenUnsatisfiable: "DoNotSchedule" | "ScheduleAnyway", maxSkew = 1): PodSpec => ({
    topologySpreadConstraints: [{ maxSkew, topologyKey, whenUnsatisfiable, labelSelector }],
  });
  const near = (topologyKey: string) => ({ requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector, topologyKey }] });
  if (random.chance(kind.spread)) {
    return random.pick([
      { spec: spread(ZONE, "DoNotSchedule"), apart: false, zones: "even" as const },
      { spec: spread(ZONE, "ScheduleAnyway"), apart: false, zones: "even" as const },
      { spec: spread(HOSTNAME, "DoNotSchedule"), apart: true, zones: "any" as const },
      { spec: spread(HOSTNAME, "DoNotSchedule", 3), apart: true, zones: "any" as const },
    ]);
  }
  if (random.chance(kind.affinity)) {
    return random.pick([
      { spec: { affinity: { podAntiAffinity: near(HOSTNAME) } }, apart: true, zones: "any" as const },
      { spec: { affinity: { podAffinity: near(ZONE) } }, apart: false, zones: "one" as const },
    ]);
  }
  return { spec: {}, apart: false, zones: "any" };
}

const owner = (kind: string, name: string) => ({ apiVersion: "apps/v1", kind, name, uid: `uid-${name}`, controller: true });

/** A replica that runs on the node. */
export function runningPod(random: Random, { app, spec }: Workload, replica: number, nodeName: string, kind: ClusterKind): Pod {
  const name = `${app}-${replica}`;
  const annotations = random.chance(kind.doNotDisrupt) ? { annotations: { "karpenter.sh/do-not-disrupt": "true" } } : {};
  return pod("default", name, { labels: { app }, ...annotations, ownerReferences: [owner("ReplicaSet", app)] }, { ...spec, nodeName });
}

function pod(namespace: string, name: string, metadata: Partial<Pod["metadata"]>, spec: PodSpec): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace, uid: `uid-${namespace}-${name}`, creationTimestamp: "2025-12-31T23:00:00Z", ...metadata },
    spec,
    status: { phase: "Running", conditions: ["PodScheduled", "Ready"].map((type) => ({ type, status: "True" as const })) },
  };
}

/** DaemonSets of small agents for every node. */
export function clusterDaemons(random: Random, { daemons }: ClusterKind): DaemonSet[] {
  return Array.from({ length: daemons === 0 ? 0 : random.int(1, daemons) }, (_, i): DaemonSet => {
    const name = `agent-${i}`;
    const resources = { requests: { cpu: `${random.int(1, 10) * 10}m`, memory: `${random.int(2, 8) * 16}Mi` } };
    const labels = { app: name };
    return {
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      metadata: { name, namespace: "kube-system", uid: `uid-${name}`, creationTimestamp: "2025-12-01T00:00:00Z" },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { containers: [{ name: "main", image: "agent", resources }], tolerations: [{ operator: "Exists" }] },
        },
      },
    };
  });
}

/** The pod of a DaemonSet on a node. */
export function daemonPod({ metadata: { name }, spec: { template } }: DaemonSet, nodeName: string): Pod {
  const metadata = { labels: template.metadata?.labels ?? {}, ownerReferences: [owner("DaemonSet", name)] };
  return pod("kube-system", `${name}-${nodeName}`, metadata, { ...template.spec, nodeName });
}

/** A PodDisruptionBudget of a workload; every second one allows no disruption. */
export function podBudget({ app }: Workload, isSpent: boolean): PodDisruptionBudget {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: app, namespace: "default", uid: `uid-pdb-${app}` },
    spec: { selector: { matchLabels: { app } }, maxUnavailable: isSpent ? 0 : 1 },
    status: { disruptionsAllowed: isSpent ? 0 : 1 },
  };
}
