import { bundledCatalogue } from "#adapters/catalogue/bundled.ts";
import type { Catalogue } from "#core/offerings/catalogue.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { STORAGE_CLASS } from "../draw/world.ts";
import { NODE_CLASS } from "../story.ts";
import { type Curve, replicasAt, sized } from "./load.ts";

/** The consolidation policy of all NodePools of the week. */
export type Policy = "WhenEmpty" | "WhenEmptyOrUnderutilized";

/** A Deployment of the week. */
export interface Service {
  readonly name: string;
  readonly pool: "stable" | "elastic";
  readonly cpu: string;
  readonly memory: string;
  readonly curve: Curve;
  /** maxUnavailable of its PodDisruptionBudget; none when absent. */
  readonly maxUnavailable?: number | string;
  readonly spread?: boolean;
  /** Whether its pods have karpenter.sh/do-not-disrupt. */
  readonly held?: boolean;
}

/**
 * A shop: interactive services run on demand, repeatable work on spot. They request about 200 vCPUs at noon, 50 at
 * night.
 */
export const SERVICES: readonly Service[] = [
  {
    ...{ name: "web", pool: "elastic", cpu: "500m", memory: "512Mi", maxUnavailable: "10%", spread: true },
    curve: { night: 12, day: 100, peakHour: 13, weekend: 0.4 },
  },
  {
    ...{ name: "feed", pool: "elastic", cpu: "750m", memory: "1536Mi", maxUnavailable: "20%" },
    curve: { night: 7, day: 55, peakHour: 20, weekend: 1 },
  },
  { name: "worker", pool: "elastic", cpu: "1500m", memory: "3Gi", curve: { night: 3, day: 30, peakHour: 14, weekend: 0.2 } },
  { name: "report", pool: "elastic", cpu: "3", memory: "6Gi", curve: { night: 0, day: 3, peakHour: 10, weekend: 0 } },
  {
    ...{ name: "api", pool: "stable", cpu: "1", memory: "2Gi", maxUnavailable: "10%", spread: true },
    curve: { night: 7, day: 45, peakHour: 13, weekend: 0.4 },
  },
  {
    ...{ name: "search", pool: "stable", cpu: "2", memory: "8Gi", maxUnavailable: 1 },
    curve: { night: 3, day: 14, peakHour: 19, weekend: 0.8 },
  },
  {
    ...{ name: "cache", pool: "stable", cpu: "1", memory: "6Gi", maxUnavailable: 1 },
    curve: { night: 4, day: 4, peakHour: 12, weekend: 1 },
  },
  {
    ...{ name: "session", pool: "stable", cpu: "500m", memory: "2Gi", held: true },
    curve: { night: 2, day: 2, peakHour: 12, weekend: 1 },
  },
];

/**
 * General purpose types of 2 to 8 vCPUs, as most clusters allow; enough for spot-to-spot, which needs 15 cheaper types.
 */
export const CATALOGUE: Catalogue = (() => {
  const all = bundledCatalogue("us-west-2", { withSyntheticSpot: true });
  return { ...all, types: all.types.filter(({ name }) => /^[cmr](5|5a|5n|6a|6i|7a|7i)\.(large|xlarge|2xlarge)$/.test(name)) };
})();

function pool(name: Service["pool"], capacity: readonly string[], policy: Policy): ApiObject {
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name },
    spec: {
      template: {
        metadata: { labels: { tier: name } },
        spec: {
          requirements: [{ key: "karpenter.sh/capacity-type", operator: "In", values: capacity }],
          nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" },
          expireAfter: "720h",
        },
      },
      disruption: { consolidationPolicy: policy, consolidateAfter: "1m", budgets: [{ nodes: "10%" }] },
    },
  };
}

const budgetOf = (name: string, maxUnavailable: number | string): ApiObject => ({
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { name, namespace: "default" },
  spec: { maxUnavailable, selector: { matchLabels: { app: name } } },
});

function deployment({ name, pool: tier, cpu, memory, curve, spread, held }: Service, size: number, start: number): ApiObject {
  const labels = { app: name };
  const spreads = [
    { maxSkew: 1, topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "ScheduleAnyway", labelSelector: { matchLabels: labels } },
  ];
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: "default" },
    spec: {
      replicas: replicasAt(sized(curve, size), start),
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, ...(held && { annotations: { "karpenter.sh/do-not-disrupt": "true" } }) },
        spec: {
          terminationGracePeriodSeconds: 30,
          nodeSelector: { tier },
          ...(spread && { topologySpreadConstraints: spreads }),
          containers: [{ name, image: name, resources: { requests: { cpu, memory } } }],
        },
      },
    },
  };
}

const AGENT: ApiObject = {
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  metadata: { name: "agent", namespace: "kube-system" },
  spec: {
    selector: { matchLabels: { app: "agent" } },
    template: {
      metadata: { labels: { app: "agent" } },
      spec: { containers: [{ name: "agent", image: "agent", resources: { requests: { cpu: "100m", memory: "128Mi" } } }] },
    },
  },
};

const DATABASE: ApiObject = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "db", namespace: "default" },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: "db" } },
    template: {
      metadata: { labels: { app: "db" } },
      spec: {
        terminationGracePeriodSeconds: 60,
        nodeSelector: { tier: "stable" },
        containers: [{ name: "db", image: "db", resources: { requests: { cpu: "2", memory: "12Gi" } } }],
      },
    },
    volumeClaimTemplates: [
      {
        metadata: { name: "data" },
        spec: { storageClassName: "ebs", accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "100Gi" } } },
      },
    ],
  },
};

/** The batch Job of a night: 40 × `size` pods of 2 vCPUs that run for half an hour each, half of them at a time. */
export function batchJob(name: string, size: number): ApiObject {
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name, namespace: "default" },
    spec: {
      completions: Math.round(40 * size),
      parallelism: Math.round(20 * size),
      template: {
        metadata: { labels: { job: name }, annotations: { "testcluster/complete-after": "30m", "karpenter.sh/do-not-disrupt": "true" } },
        spec: {
          nodeSelector: { tier: "elastic" },
          containers: [{ name: "work", image: "work", resources: { requests: { cpu: "2", memory: "4Gi" } } }],
        },
      },
    },
  };
}

/** The objects of the cluster at `start` (ms since the epoch), with `size` times the replicas. */
export function weekObjects(policy: Policy, size: number, start: number): readonly ApiObject[] {
  return [
    ...[NODE_CLASS, pool("stable", ["on-demand"], policy), pool("elastic", ["spot", "on-demand"], policy)],
    ...[AGENT, STORAGE_CLASS, DATABASE, budgetOf("db", 1)],
    ...SERVICES.flatMap((service) => [
      deployment(service, size, start),
      ...(service.maxUnavailable === undefined ? [] : [budgetOf(service.name, service.maxUnavailable)]),
    ]),
  ];
}
