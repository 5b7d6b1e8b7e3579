import type { Random } from "#lab/world/random.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { NOWHERE } from "../invariants/facts.ts";
import { NODE_CLASS } from "../story.ts";

/** A drawn workload, with what the acts need to scale and restart it. */
export interface DrawnWorkload {
  readonly name: string;
  /** Upper bound of its replicas. */
  readonly most: number;
}

export interface DrawnWorld {
  readonly objects: readonly ApiObject[];
  readonly pools: readonly string[];
  readonly workloads: readonly DrawnWorkload[];
}

/** True with this probability: `chance(random, 0.3)` is true in three of ten runs. */
export const chance = (random: Random, share: number): boolean => random.next() < share;

const CAPACITY: readonly [readonly string[], ...(readonly string[])[]] = [["on-demand"], ["spot"], ["spot", "on-demand"]];

const POOLS: readonly [string, ...string[]] = ["general", "batch", "spare"];
const DURATIONS: readonly [string, ...string[]] = ["0s", "30s", "2m", "10m"];

/** Disruption budgets as users write them: counts, percentages, and windows in which no node may be disrupted. */
export function drawBudgets(random: Random): readonly object[] | undefined {
  return random.pick<readonly object[] | undefined>([
    undefined,
    [{ nodes: "1" }],
    [{ nodes: "2" }],
    [{ nodes: "50%" }],
    [{ nodes: "100%" }],
    [{ nodes: "100%" }, { nodes: "0", schedule: "0 * * * *", duration: "20m" }],
    [{ nodes: "1", reasons: ["Drifted"] }, { nodes: "2" }],
  ]);
}

export function drawLimits(random: Random): Readonly<Record<string, number>> | undefined {
  return random.pick<Readonly<Record<string, number>> | undefined>([undefined, undefined, { cpu: 64 }, { cpu: 24 }, { nodes: 4 }]);
}

/** Taken off by an agent on the node some time after it has joined (play.ts). */
export const STARTUP_TAINT = { key: "sim/agent-not-ready", effect: "NoSchedule" } as const;

function drawPool(name: string, weight: number, random: Random): ApiObject {
  const startup = random.fork("startup");
  const budgets = drawBudgets(random);
  const limits = drawLimits(random);
  const terminationGracePeriod = random.pick<string | undefined>([undefined, undefined, "3m", "15m"]);
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name },
    spec: {
      template: {
        metadata: { labels: { "sim/pool": name } },
        spec: {
          requirements: [{ key: "karpenter.sh/capacity-type", operator: "In", values: random.pick(CAPACITY) }],
          nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" },
          ...(chance(startup, 0.25) && { startupTaints: [STARTUP_TAINT] }),
          expireAfter: random.pick(["720h", "720h", "720h", "Never", "20m"]),
          ...(terminationGracePeriod !== undefined && { terminationGracePeriod }),
        },
      },
      ...(limits && { limits }),
      ...(weight > 0 && { weight }),
      disruption: {
        consolidationPolicy: random.pick(["WhenEmptyOrUnderutilized", "WhenEmptyOrUnderutilized", "WhenEmpty"]),
        consolidateAfter: random.pick([...DURATIONS, "Never"] as unknown as [string, ...string[]]),
        ...(budgets && { budgets }),
      },
    },
  };
}

const priorityClass = (name: string, value: number, more: object = {}): ApiObject => ({
  apiVersion: "scheduling.k8s.io/v1",
  kind: "PriorityClass",
  metadata: { name },
  value,
  ...more,
});

const PRIORITY_CLASSES: readonly ApiObject[] = [
  priorityClass("urgent", 1_000),
  priorityClass("patient", 500, { preemptionPolicy: "Never" }),
  priorityClass("spare", -10),
];

/** The PriorityClass of a workload; kube-scheduler takes the room of pods of a lower one. */
const drawPriority = (random: Random): string | undefined => random.pick([undefined, "urgent", "patient", "spare", "spare"]);

function drawDeployment(
  name: string,
  pools: readonly string[],
  priorityClassName: string | undefined,
  random: Random,
): readonly ApiObject[] {
  const labels = { app: name };
  const pool = chance(random, 0.4) ? random.pick(pools as [string, ...string[]]) : undefined;
  const hold = random.pick<string | undefined>([undefined, undefined, undefined, undefined, "true", "10m"]);
  const spread = chance(random, 0.15);
  const deployment: ApiObject = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: "default" },
    spec: {
      replicas: random.between(0, 4),
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, ...(hold !== undefined && { annotations: { "karpenter.sh/do-not-disrupt": hold } }) },
        spec: {
          terminationGracePeriodSeconds: random.pick([0, 5, 30, 90]),
          ...(priorityClassName !== undefined && { priorityClassName }),
          ...(pool !== undefined && { nodeSelector: { "karpenter.sh/nodepool": pool } }),
          ...(spread && {
            topologySpreadConstraints: [
              {
                maxSkew: 1,
                topologyKey: "topology.kubernetes.io/zone",
                whenUnsatisfiable: "ScheduleAnyway",
                labelSelector: { matchLabels: labels },
              },
            ],
          }),
          containers: [
            {
              name: "main",
              image: "pause",
              resources: {
                requests: { cpu: random.pick(["250m", "500m", "1", "1500m", "3"]), memory: random.pick(["256Mi", "1Gi", "3Gi"]) },
              },
            },
          ],
        },
      },
    },
  };
  if (chance(random, 0.5)) return [deployment];
  const rule = random.pick<object>([{ minAvailable: 1 }, { maxUnavailable: 1 }, { maxUnavailable: "50%" }, { maxUnavailable: 0 }]);
  const budget: ApiObject = {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name, namespace: "default" },
    spec: { ...rule, selector: { matchLabels: labels } },
  };
  return [deployment, budget];
}

const DAEMON_SET: ApiObject = {
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  metadata: { name: "agent", namespace: "kube-system" },
  spec: {
    selector: { matchLabels: { app: "agent" } },
    template: {
      metadata: { labels: { app: "agent" } },
      spec: { containers: [{ name: "agent", image: "agent", resources: { requests: { cpu: "100m", memory: "64Mi" } } }] },
    },
  },
};

/** Binds volumes in the zone of their first pod. */
export const STORAGE_CLASS: ApiObject = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "ebs" },
  provisioner: "ebs.csi.aws.com",
  volumeBindingMode: "WaitForFirstConsumer",
};

const STATEFUL_SET: ApiObject = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "db", namespace: "default" },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: "db" } },
    template: {
      metadata: { labels: { app: "db" } },
      spec: {
        terminationGracePeriodSeconds: 10,
        containers: [{ name: "db", image: "db", resources: { requests: { cpu: "500m", memory: "1Gi" } } }],
      },
    },
    volumeClaimTemplates: [
      {
        metadata: { name: "data" },
        spec: { storageClassName: "ebs", accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
      },
    ],
  },
};

/** A pod that fits on no node there can be. */
const HOPELESS: ApiObject = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "hopeless", namespace: "default" },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: "hopeless" } },
    template: {
      metadata: { labels: { app: "hopeless" } },
      spec: {
        nodeSelector: { [NOWHERE]: "true" },
        containers: [{ name: "main", image: "pause", resources: { requests: { cpu: "250m" } } }],
      },
    },
  },
};

/** Probability of a cluster of tens of nodes, and the replicas of its Deployments at most; of others. */
const LARGE_SHARE = 0.03;
const MOST_IN_LARGE = 45;
const MOST = 8;

function withoutLimits(pool: ApiObject): ApiObject {
  const { limits: _, ...spec } = pool.spec as { readonly limits?: object };
  return { ...pool, spec };
}

/**
 * One to three NodePools and one to four workloads, each with the settings that decide what may be done to its nodes
 * and pods.
 */
export function drawWorld(random: Random): DrawnWorld {
  const large = chance(random.fork("large"), LARGE_SHARE);
  const pools = POOLS.slice(0, random.between(1, 3));
  const names = Array.from({ length: random.between(1, 4) }, (_, i) => `app-${i}`);
  const stateful = chance(random, 0.2);
  const priorities = random.fork("priorities");
  const hopeless = chance(random.fork("hopeless"), 0.3);
  const prioritised = chance(priorities, 0.4);
  return {
    pools,
    workloads: names.map((name) => ({ name, most: large ? MOST_IN_LARGE : MOST })),
    objects: [
      NODE_CLASS,
      ...pools.map((pool, i) => drawPool(pool, i * 10, random)).map((pool) => (large ? withoutLimits(pool) : pool)),
      ...(chance(random, 0.4) ? [DAEMON_SET] : []),
      ...(stateful ? [STORAGE_CLASS, STATEFUL_SET] : []),
      ...(prioritised ? PRIORITY_CLASSES : []),
      ...(hopeless ? [HOPELESS] : []),
      ...names.flatMap((name) => drawDeployment(name, pools, prioritised ? drawPriority(priorities) : undefined, random)),
    ],
  };
}
