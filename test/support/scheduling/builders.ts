/* Presets of support/objects.ts for scheduling: a small catalogue, pending pods, nodes with NodeClaims, scenarios. */
import type { InstanceType, Offering } from "#core/model/instance-type.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodePool, NodePoolSpec, NodeSelectorRequirementWithMinValues } from "#core/model/node-pool.ts";
import type { Plan } from "#core/model/plan.ts";
import type { Pod, PodSpec } from "#core/model/pod.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import type { Taint } from "#core/model/taint.ts";
import type { DaemonSet } from "#core/model/workloads.ts";
import { type SolveOptions, solve } from "#core/scheduling/solve.ts";
import * as objects from "../objects.ts";
import { scenarioToSnapshot } from "./scenario.ts";

/** A scenario file (docs/scenario-format.md); a test names only the fields that it is about. */
export interface Scenario {
  readonly nodePools: readonly NodePool[];
  readonly nodes: readonly Node[];
  readonly nodeClaims: readonly NodeClaim[];
  readonly pods: readonly Pod[];
  readonly daemonSets: readonly DaemonSet[];
  readonly instanceTypes: readonly InstanceType[];
  readonly [more: string]: unknown;
}

export function scenario(parts: Partial<Scenario>): Scenario {
  return { nodes: [], nodeClaims: [], pods: [], daemonSets: [], nodePools: [nodePool()], instanceTypes: CATALOGUE, ...parts };
}

export function snapshotOf(parts: Partial<Scenario>, more: Partial<Snapshot> = {}): Snapshot {
  return { ...scenarioToSnapshot(scenario(parts)), ...more };
}

export function planFor(parts: Partial<Scenario>, options: SolveOptions = {}): Plan {
  return solve(snapshotOf(parts), options);
}

export const ZONES = ["zone-a", "zone-b", "zone-c"];

/**
 * An instance type of family and size "FAMILY.SIZE"; `price` (USD per hour) is on demand, 0.05 for each CPU by default.
 */
export function instanceType(
  name: string,
  cpu: number,
  memoryGi: number,
  more: {
    readonly arch?: string;
    readonly price?: number;
    readonly offerings?: readonly Offering[];
    readonly capacity?: Record<string, string>;
  } = {},
): InstanceType {
  const price = more.price ?? cpu * 0.05;
  const offerings = more.offerings ?? objects.offerings(ZONES, price);
  const [family = name, size = name] = name.split(".");
  return objects.instanceType(name, {
    requirements: [
      { key: "kubernetes.io/arch", operator: "In", values: [more.arch ?? "amd64"] },
      { key: "kubernetes.io/os", operator: "In", values: ["linux"] },
      { key: "topology.kubernetes.io/zone", operator: "In", values: [...new Set(offerings.map(({ zone }) => zone))] },
      { key: "karpenter.sh/capacity-type", operator: "In", values: [...new Set(offerings.map(({ capacityType }) => capacityType))] },
      { key: "karpenter.k8s.aws/instance-family", operator: "In", values: [family] },
      { key: "karpenter.k8s.aws/instance-size", operator: "In", values: [size] },
      { key: "karpenter.k8s.aws/instance-cpu", operator: "In", values: [String(cpu)] },
    ],
    capacity: { cpu: String(cpu), memory: `${memoryGi}Gi`, pods: "29", ...more.capacity },
    overhead: { kubeReserved: { cpu: "100m", memory: "512Mi" } },
    offerings,
  });
}

export const CATALOGUE: readonly InstanceType[] = [
  instanceType("m.small", 2, 8),
  instanceType("m.medium", 4, 16),
  instanceType("m.large", 16, 64),
  instanceType("g.medium", 4, 16, { arch: "arm64", price: 0.16 }),
];

export function nodePool(
  name = "default",
  more: {
    readonly requirements?: readonly NodeSelectorRequirementWithMinValues[];
    readonly taints?: readonly Taint[];
    readonly labels?: Readonly<Record<string, string>>;
  } & Partial<Omit<NodePoolSpec, "template">> = {},
): NodePool {
  const { requirements = [], taints, labels, ...spec } = more;
  const template = { requirements, ...(taints && { taints }) };
  const pool = objects.nodePool(name, { uid: `pool-${name}`, labels, template, spec });
  return { apiVersion: "karpenter.sh/v1", kind: "NodePool", ...pool };
}

/** A pending pod that kube-scheduler has marked Unschedulable. */
export function pod(
  name: string,
  requests: Record<string, string> = { cpu: "1" },
  spec: PodSpec = {},
  metadata: Partial<Pod["metadata"]> = {},
): Pod {
  return { apiVersion: "v1", kind: "Pod", ...objects.pod(name, { requests, metadata, spec }) };
}

/** A pod that runs on a node. */
export function boundPod(
  name: string,
  nodeName: string,
  requests: Record<string, string> = { cpu: "1" },
  spec: PodSpec = {},
  metadata: Partial<Pod["metadata"]> = {},
): Pod {
  return { ...pod(name, requests, { ...spec, nodeName }, metadata), status: { phase: "Running" } };
}

/** `count` pods that differ only in their names. */
export function pods(
  count: number,
  prefix: string,
  requests?: Record<string, string>,
  spec?: PodSpec,
  metadata?: Partial<Pod["metadata"]>,
): Pod[] {
  return Array.from({ length: count }, (_, i) => pod(`${prefix}-${i}`, requests, spec, metadata));
}

/** A node of a NodePool with its NodeClaim; it is initialized unless `initialized` is false. */
export function nodeWithClaim(
  name: string,
  more: {
    readonly pool?: string;
    readonly cpu?: string;
    readonly memory?: string;
    readonly labels?: Record<string, string>;
    readonly taints?: readonly Taint[];
    readonly initialized?: boolean;
  } = {},
): { readonly node: Node; readonly claim: NodeClaim } {
  const pool = more.pool ?? "default";
  const providerID = `aws:///zone-a/i-${name}`;
  const labels = {
    "karpenter.sh/nodepool": pool,
    "karpenter.k8s.aws/ec2nodeclass": "default",
    "node.kubernetes.io/instance-type": "m.medium",
    "topology.kubernetes.io/zone": "zone-a",
    "karpenter.sh/capacity-type": "on-demand",
    "kubernetes.io/arch": "amd64",
    "kubernetes.io/os": "linux",
    ...more.labels,
  };
  const resources = { cpu: more.cpu ?? "4", memory: more.memory ?? "16Gi", pods: "29" };
  return {
    node: objects.node(name, {
      providerID,
      labels: {
        ...labels,
        "kubernetes.io/hostname": name,
        "karpenter.sh/registered": "true",
        ...(more.initialized === false ? {} : { "karpenter.sh/initialized": "true" }),
      },
      taints: more.taints,
      resources,
    }),
    claim: objects.nodeClaim(`${pool}-${name}`, {
      uid: `claim-${name}`,
      labels,
      providerID,
      status: { nodeName: name, capacity: resources, allocatable: resources },
      conditions: [objects.condition("Launched")],
    }),
  };
}

export function daemonSet(name: string, requests: Record<string, string>, spec: PodSpec = {}): DaemonSet {
  return objects.daemonSet(name, { requests, spec });
}
