import { bundledCatalogue } from "#adapters/catalogue/bundled.ts";
import type { InstanceType } from "#core/model/instance-type.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import type { Pod, PodSpec } from "#core/model/pod.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import type { DaemonSet } from "#core/model/workloads.ts";
import { instanceTypesOf } from "#core/offerings/instance-types.ts";
import { oddPod, SHAPES, type Shape } from "./all-different.ts";

export const FAMILIES = ["diverse", "deployments"] as const;
export type Family = (typeof FAMILIES)[number] | "alike" | Shape;
export const FAMILIES_AND_SHAPES: readonly Family[] = [...FAMILIES, "alike", ...SHAPES];

/** The input that stays the same between runs, as a warm function keeps its instance types. */
export interface Setting {
  readonly nodePools: readonly NodePool[];
  readonly daemonSets: readonly DaemonSet[];
  readonly instanceTypes: readonly InstanceType[];
  readonly pods: (count: number) => readonly Pod[];
}

/**
 * "diverse": the mix of Karpenter's benchmark on 400 invented types. "deployments": Deployments of uneven size on the
 * AWS catalogue. "alike": copies of one pod on it. A shape: pods that are all different (all-different.ts), on the AWS
 * catalogue or, for a quick test, on each nth of its types.
 */
export function settingOf(family: Family, each = 1): Setting {
  if (family === "diverse") return diverse();
  const catalogue = deployments();
  const setting = { ...catalogue, instanceTypes: catalogue.instanceTypes.filter((_, i) => i % each === 0) };
  if (family === "deployments") return setting;
  if (family === "alike") return { ...setting, pods: alikePods };
  const types = setting.instanceTypes.map(({ name }) => name).sort();
  const zones = [...new Set(setting.instanceTypes.flatMap(({ offerings }) => offerings.map(({ zone }) => zone)))].sort();
  const tenants = { key: "example.com/tenant", operator: "Exists" as const };
  return {
    ...setting,
    nodePools: [nodePool("default", family === "own-label" ? [tenants] : [])],
    pods: (count) =>
      Array.from({ length: count }, (_, i) => {
        const { labels, requests, spec } = oddPod(family, i, { types, zones });
        return pendingPod(`pod-${i}`, labels, requests, spec);
      }),
  };
}

/**
 * A cluster without nodes in which all pods are pending. Each call makes new pods, because each run of a function reads
 * its own.
 */
export function snapshotOf({ nodePools, daemonSets, instanceTypes, pods }: Setting, count: number): Snapshot {
  return {
    now: Date.parse("2026-01-01T00:00:00Z"),
    nodePools,
    daemonSets,
    pods: pods(count),
    nodes: [],
    nodeClaims: [],
    podDisruptionBudgets: [],
    persistentVolumeClaims: [],
    persistentVolumes: [],
    storageClasses: [],
    csiNodes: [],
    namespaces: [],
    instanceTypes: new Map(nodePools.map(({ metadata }) => [metadata.name, instanceTypes])),
    nominated: new Map(),
    disrupting: new Set(),
  };
}

/** Pseudo-random numbers in [0, 1), the same in every run (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function picker(seed: number): <T>(list: readonly [T, ...T[]]) => T {
  const random = randomNumbers(seed);
  return (list) => list[Math.floor(random() * list.length)] ?? list[0];
}

const LETTERS = ["a", "b", "c", "d", "e", "f", "g"] as const;
const ZONE = "topology.kubernetes.io/zone";
const HOSTNAME = "kubernetes.io/hostname";
const HUNDRED: readonly [number, ...number[]] = [0, ...Array.from({ length: 99 }, (_, i) => i + 1)];

function diverse(): Setting {
  return {
    nodePools: [nodePool("default", [])],
    daemonSets: [],
    instanceTypes: Array.from({ length: 400 }, (_, i) => inventedType(i)),
    pods: (count) => {
      const pick = picker(42);
      return Array.from({ length: count }, (_, i) => {
        const kind = Math.floor((i * 5) / count);
        const requests = {
          cpu: pick(["100m", "250m", "500m", "1", "1500m"]),
          memory: pick(["100Mi", "256Mi", "512Mi", "1Gi", "2Gi", "4Gi"]),
        };
        const { labels, ...rest } = diverseSpec(kind, pick);
        return pendingPod(`pod-${kind}-${i}`, labels, requests, rest);
      });
    },
  };
}

/**
 * A fifth of the pods each: no constraints, spread over zones, spread over hosts, zone affinity, host anti-affinity.
 */
function diverseSpec(kind: number, pick: ReturnType<typeof picker>): PodSpec & { readonly labels: Record<string, string> } {
  const own = pick(LETTERS);
  const spread = (topologyKey: string): PodSpec & { readonly labels: Record<string, string> } => ({
    labels: { "my-label": own },
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey, whenUnsatisfiable: "DoNotSchedule", labelSelector: { matchLabels: { "my-label": pick(LETTERS) } } },
    ],
  });
  const term = (labels: Record<string, string>, topologyKey: string) => ({
    requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: { matchLabels: labels }, topologyKey }],
  });
  switch (kind) {
    case 1:
      return spread(ZONE);
    case 2:
      return spread(HOSTNAME);
    case 3:
      return { labels: { "my-affinity": own }, affinity: { podAffinity: term({ "my-affinity": own }, ZONE) } };
    case 4:
      return { labels: { app: "nginx" }, affinity: { podAntiAffinity: term({ app: "nginx" }, HOSTNAME) } };
    default:
      return { labels: { "my-label": own } };
  }
}

/** A type of i + 1 CPUs, with 2 GiB and 10 pods for each CPU; the price follows from CPUs and memory. */
function inventedType(i: number): InstanceType {
  const n = i + 1;
  const price = n * 0.1 + n * 2 * 0.1 * 1.073741824;
  const offer = (zone: string, capacityType: "spot" | "on-demand") => ({ zone, capacityType, price, available: true });
  const requirement = (key: string, ...values: string[]) => ({ key, operator: "In" as const, values });
  return {
    name: `fake-it-${i}`,
    requirements: [
      requirement("node.kubernetes.io/instance-type", `fake-it-${i}`),
      requirement("kubernetes.io/arch", "amd64"),
      requirement("kubernetes.io/os", "darwin", "linux", "windows"),
      requirement(ZONE, "test-zone-1", "test-zone-2", "test-zone-3"),
      requirement("karpenter.sh/capacity-type", "on-demand", "spot"),
      requirement("integer", String(n)),
    ],
    capacity: { cpu: String(n), memory: `${2 * n}Gi`, pods: String(10 * n) },
    overhead: { kubeReserved: { cpu: "100m", memory: "10Mi" } },
    offerings: [
      offer("test-zone-1", "spot"),
      offer("test-zone-2", "spot"),
      offer("test-zone-1", "on-demand"),
      offer("test-zone-2", "on-demand"),
      offer("test-zone-3", "on-demand"),
    ],
  };
}

function deployments(): Setting {
  const catalogue = bundledCatalogue("us-west-2", { withSyntheticSpot: true });
  const nodeClass = {
    spec: { amiSelectorTerms: [{ alias: "al2023@latest" }], subnetSelectorTerms: [], securityGroupSelectorTerms: [] },
    status: { subnets: catalogue.zones.map(({ name, zoneId }) => ({ id: name, zone: name, zoneID: zoneId })) },
  };
  const category = (...values: string[]) => ({ key: "karpenter.k8s.aws/instance-category", operator: "In" as const, values });
  const zones = catalogue.zones.map(({ name }) => name);
  return {
    nodePools: [
      nodePool("default", [category("c", "m", "r"), { key: "karpenter.k8s.aws/instance-generation", operator: "Gt", values: ["2"] }], 10),
      nodePool("gpu", [category("g", "p")]),
    ],
    daemonSets: ["node-agent", "log-shipper"].map(daemonSet),
    instanceTypes: instanceTypesOf({
      catalogue,
      nodeClass,
      unavailable: [],
      settings: { vmMemoryOverheadPercent: 0.075, reservedEnis: 0 },
    }),
    pods: (count) => deploymentPods(count, zones),
  };
}

/** Deployments whose sizes fall as 1/rank: the largest has a sixth of the pods, and a third of them have one pod. */
function deploymentPods(count: number, zones: readonly string[]): readonly Pod[] {
  const pick = picker(7);
  const share = Math.max(1, Math.round(count * 0.075));
  const scale = count / (Math.log(share) + 0.5772 + 1);
  const pods: Pod[] = [];
  for (let rank = 1; pods.length < count; rank++) {
    const app = `deploy-${rank - 1}`;
    const isGpu = pick(HUNDRED) === 0;
    const requests = isGpu ? { cpu: "4", memory: "16Gi", "nvidia.com/gpu": "1" } : deploymentRequests(pick);
    const spec = isGpu ? {} : deploymentSpec(app, pick, zones);
    const replicas = Math.max(1, Math.floor(scale / rank));
    for (let i = 0; i < replicas && pods.length < count; i++) pods.push(pendingPod(`${app}-${i}`, { app }, requests, spec));
  }
  return pods;
}

function alikePods(count: number): readonly Pod[] {
  return Array.from({ length: count }, (_, i) => pendingPod(`pod-${i}`, { app: "web" }, { cpu: "500m", memory: "1Gi" }, {}));
}

function deploymentRequests(pick: ReturnType<typeof picker>): Record<string, string> {
  const cpu = pick(["50m", "100m", "100m", "250m", "250m", "500m", "500m", "1", "1", "2", "4", "8"]);
  const memory = pick(["64Mi", "128Mi", "256Mi", "256Mi", "512Mi", "512Mi", "1Gi", "1Gi", "2Gi", "4Gi", "8Gi", "16Gi", "32Gi"]);
  return { cpu, memory };
}

function deploymentSpec(app: string, pick: ReturnType<typeof picker>, zones: readonly string[]): PodSpec {
  const labelSelector = { matchLabels: { app } };
  const spread = [{ maxSkew: 1, topologyKey: ZONE, whenUnsatisfiable: "DoNotSchedule" as const, labelSelector }];
  const roll = pick(HUNDRED);
  if (roll < 58) return {};
  if (roll < 73) return { topologySpreadConstraints: spread };
  if (roll < 78) {
    const preferredDuringSchedulingIgnoredDuringExecution = [{ weight: 50, podAffinityTerm: { labelSelector, topologyKey: ZONE } }];
    return { affinity: { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution } } };
  }
  if (roll < 82) {
    return {
      affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector, topologyKey: HOSTNAME }] } },
    };
  }
  const [key, values] = pick<readonly [string, readonly string[]]>([
    ["karpenter.sh/capacity-type", ["spot", "on-demand"]],
    ["kubernetes.io/arch", ["amd64", "arm64"]],
    [ZONE, zones],
  ]);
  const nodeSelector = { [key]: pick(values as [string, ...string[]]) };
  return roll < 97 ? { nodeSelector } : { nodeSelector, ...(key === ZONE ? {} : { topologySpreadConstraints: spread }) };
}

export function nodePool(
  name: string,
  requirements: NonNullable<NodePool["spec"]["template"]["spec"]["requirements"]>,
  weight?: number,
): NodePool {
  return {
    metadata: { name },
    spec: {
      template: {
        spec: {
          requirements: [
            { key: "kubernetes.io/os", operator: "In", values: ["linux"] },
            { key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand", "spot"] },
            ...requirements,
          ],
          nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" },
        },
      },
      limits: { cpu: "10M", memory: "10000000Gi" },
      ...(weight === undefined ? {} : { weight }),
    },
  };
}

export function daemonSet(name: string): DaemonSet {
  const resources = { requests: { cpu: "100m", memory: "128Mi" } };
  return {
    metadata: { name, namespace: "kube-system", uid: name },
    spec: { template: { spec: { containers: [{ name: "main", resources }], tolerations: [{ operator: "Exists" }] } } },
  };
}

export function pendingPod(name: string, labels: Record<string, string>, requests: Record<string, string>, spec: PodSpec): Pod {
  return {
    metadata: { name, namespace: "default", uid: `uid-${name}`, creationTimestamp: "2025-12-31T23:59:56Z", labels: { ...labels } },
    spec: { containers: [{ name: "main", resources: { requests: { ...requests } } }], ...structuredClone(spec) },
    status: { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }] },
  };
}
