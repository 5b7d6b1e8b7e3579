import { nodeClass } from "../../e2e/arrange.ts";

// The objects that the courses apply.

export const HOSTNAME = "kubernetes.io/hostname";
export const ZONE = "topology.kubernetes.io/zone";
export const FAMILY = "karpenter.k8s.aws/instance-family";

export interface Requirement {
  readonly key: string;
  readonly operator: "In" | "Gt" | "Exists";
  readonly values?: readonly string[];
}

export const isIn = (key: string, ...values: readonly string[]): Requirement => ({ key, operator: "In", values });
export const ON_DEMAND = isIn("karpenter.sh/capacity-type", "on-demand");
export const SPOT = isIn("karpenter.sh/capacity-type", "spot");
/** The families of most installations. */
export const GENERAL: readonly Requirement[] = [
  isIn("karpenter.k8s.aws/instance-category", "c", "m", "r"),
  { key: "karpenter.k8s.aws/instance-generation", operator: "Gt", values: ["2"] },
];

export const CLASS = nodeClass("default", { amiSelectorTerms: [{ alias: "al2023@latest" }] });

interface PoolOptions {
  /** Default: on demand, of the general families. */
  readonly requirements?: readonly Requirement[];
  readonly weight?: number;
  readonly limits?: Readonly<Record<string, string>>;
  readonly policy?: "WhenEmpty" | "WhenEmptyOrUnderutilized";
  /** Default Never. */
  readonly consolidateAfter?: string;
}

/** A NodePool of amd64 Linux machines without a limit of its disruptions. */
export function pool(name: string, options: PoolOptions = {}): object {
  const { requirements = [ON_DEMAND, ...GENERAL], weight, limits } = options;
  const { policy = "WhenEmptyOrUnderutilized", consolidateAfter = "Never" } = options;
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name },
    spec: {
      ...(weight !== undefined && { weight }),
      ...(limits !== undefined && { limits }),
      template: {
        spec: {
          requirements: [isIn("kubernetes.io/arch", "amd64"), isIn("kubernetes.io/os", "linux"), ...requirements],
          nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" },
          expireAfter: "720h",
        },
      },
      disruption: { consolidationPolicy: policy, consolidateAfter, budgets: [{ nodes: "100%" }] },
    },
  };
}

interface WorkloadOptions {
  /** Default: one CPU and 1Gi. */
  readonly cpu?: string;
  readonly memory?: string;
  /** Topology keys over which the pods are spread, with a skew of 1. */
  readonly spread?: readonly { readonly key: string; readonly when: "DoNotSchedule" | "ScheduleAnyway" }[];
  readonly affinity?: object;
  /** A port of the host: no two pods run on one machine. */
  readonly hostPort?: number;
  /** Another release makes the Deployment replace its pods. */
  readonly release?: string;
}

/** A Deployment with pods of its name that end at once. */
export function workload(app: string, replicas: number, options: WorkloadOptions = {}): object {
  const { cpu = "1", memory = "1Gi", spread = [], affinity, hostPort, release } = options;
  const ports = hostPort === undefined ? {} : { ports: [{ containerPort: hostPort, hostPort }] };
  const constraints = spread.map(({ key, when }) => ({
    maxSkew: 1,
    topologyKey: key,
    whenUnsatisfiable: when,
    labelSelector: labelled(app),
  }));
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: app, namespace: "default" },
    spec: {
      replicas,
      selector: labelled(app),
      template: {
        metadata: { labels: { app }, ...(release !== undefined && { annotations: { release } }) },
        spec: {
          terminationGracePeriodSeconds: 0,
          ...(affinity !== undefined && { affinity }),
          ...(constraints.length > 0 && { topologySpreadConstraints: constraints }),
          containers: [{ name: app, image: "pause", resources: { requests: { cpu, memory } }, ...ports }],
        },
      },
    },
  };
}

const labelled = (app: string) => ({ matchLabels: { app } });

/** A required affinity to pods of an app, or an anti-affinity. */
export const beside = (app: string, topologyKey: string): object => required("podAffinity", app, topologyKey);
export const apartFrom = (app: string, topologyKey: string): object => required("podAntiAffinity", app, topologyKey);

const required = (kind: "podAffinity" | "podAntiAffinity", app: string, topologyKey: string): object => ({
  [kind]: { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: labelled(app), topologyKey }] },
});
