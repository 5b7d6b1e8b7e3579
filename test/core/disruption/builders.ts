/*
 * Presets of support/objects.ts for disruption: NodePools that permit all, machines with their claims, simulated plans.
 */
import type { SimulateOptions } from "#core/disruption/cluster/simulation.ts";
import type { InstanceType } from "#core/model/instance-type.ts";
import type { Condition } from "#core/model/kubernetes.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { Disruption, NodePool } from "#core/model/node-pool.ts";
import type { Plan, PlannedNodeClaim } from "#core/model/plan.ts";
import type { Pod } from "#core/model/pod.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import type { PodDisruptionBudget } from "#core/model/workloads.ts";
import * as objects from "../../support/objects.ts";

export const NOW = Date.parse("2026-01-01T12:00:00Z");
const LONG_AGO = "2025-12-31T00:00:00Z";

export function nodePool(name = "default", disruption: Partial<Disruption> = {}, spec: Partial<NodePool["spec"]> = {}): NodePool {
  return objects.nodePool(name, {
    uid: `uid-${name}`,
    spec: { disruption: { consolidateAfter: "0s", budgets: [{ nodes: "100%" }], ...disruption }, ...spec },
  });
}

/** On-demand prices by instance type, USD per hour; spot costs 40 % of them. */
export const PRICES: Readonly<Record<string, number>> = { small: 0.1, medium: 0.2, large: 0.4, huge: 0.8 };

const RESOURCES = { cpu: "4", memory: "8Gi", pods: "50" };

export function instanceType(name: string, price = PRICES[name] ?? 1): InstanceType {
  return objects.instanceType(name, { capacity: RESOURCES, offerings: objects.offerings(["a", "b"], price) });
}

export const TYPES: readonly InstanceType[] = Object.keys(PRICES).map((name) => instanceType(name));

export interface MachineParts {
  readonly name: string;
  readonly pool?: string;
  readonly type?: string;
  readonly capacityType?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly initialized?: boolean;
  readonly ready?: boolean;
  readonly drifted?: string;
  readonly deletionTimestamp?: string;
  /** When the Node alone was deleted. */
  readonly nodeDeletedAt?: string;
  readonly terminationGracePeriod?: string;
  readonly taints?: Node["spec"]["taints"];
  readonly lastPodEventTime?: string;
  readonly conditions?: readonly Condition[];
  readonly noNode?: boolean;
  /** Names of labels to leave out. */
  readonly without?: readonly string[];
}

const condition = (type: string, since = LONG_AGO): Condition => objects.fullCondition(type, since);

/** The NodeClaim NAME-claim and its Node NAME. */
export function machine(parts: MachineParts): { readonly claim: NodeClaim; readonly node: Node | undefined } {
  const { name, pool = "default", type = "large", capacityType = "on-demand", initialized = true, ready = true, without = [] } = parts;
  const labels = Object.fromEntries(
    Object.entries({
      "karpenter.sh/nodepool": pool,
      "karpenter.k8s.aws/ec2nodeclass": "default",
      "karpenter.sh/capacity-type": capacityType,
      "node.kubernetes.io/instance-type": type,
      "topology.kubernetes.io/zone": "a",
      "karpenter.sh/registered": "true",
      ...(initialized ? { "karpenter.sh/initialized": "true" } : {}),
    }).filter(([key]) => !without.includes(key)),
  );
  const providerID = `aws:///a/i-${name}`;
  const deletion = parts.deletionTimestamp ? { deletionTimestamp: parts.deletionTimestamp } : {};
  const conditions = [
    condition("Launched"),
    condition("Registered"),
    ...(initialized ? [condition("Initialized")] : []),
    ...(parts.drifted ? [condition("Drifted", parts.drifted)] : []),
    ...(parts.conditions ?? []),
  ];
  const claim = objects.nodeClaim(`${name}-claim`, {
    uid: `uid-${name}`,
    labels,
    metadata: deletion,
    spec: parts.terminationGracePeriod ? { terminationGracePeriod: parts.terminationGracePeriod } : {},
    providerID,
    status: { nodeName: name, ...(parts.lastPodEventTime ? { lastPodEventTime: parts.lastPodEventTime } : {}) },
    conditions,
  });
  const node = objects.node(name, {
    providerID,
    labels,
    taints: parts.taints,
    resources: RESOURCES,
    ready,
    metadata: {
      ...(parts.annotations && { annotations: parts.annotations }),
      ...(parts.nodeDeletedAt && { deletionTimestamp: parts.nodeDeletedAt }),
    },
  });
  return { claim, node: parts.noNode ? undefined : node };
}

export function pod(
  name: string,
  nodeName?: string,
  part: { metadata?: Partial<Pod["metadata"]>; spec?: Pod["spec"]; status?: Pod["status"] } = {},
): Pod {
  const metadata = { labels: { app: "web" }, ...part.metadata };
  return objects.pod(name, { requests: { cpu: "1" }, ...(nodeName && { nodeName }), ...part, metadata });
}

export function pdb(name: string, disruptionsAllowed = 0): PodDisruptionBudget {
  return objects.pdb(name, { matchLabels: { app: "web" }, disruptionsAllowed });
}

export interface Scene {
  readonly pools?: readonly NodePool[];
  readonly machines?: readonly MachineParts[];
  readonly pods?: readonly Pod[];
  readonly pdbs?: readonly PodDisruptionBudget[];
  readonly types?: readonly InstanceType[];
}

export function snapshot({ pools = [nodePool()], machines = [], pods = [], pdbs = [], types = TYPES }: Scene): Snapshot {
  const built = machines.map(machine);
  return {
    now: NOW,
    nodePools: pools,
    nodes: built.flatMap(({ node }) => node ?? []),
    nodeClaims: built.map(({ claim }) => claim),
    pods,
    daemonSets: [],
    podDisruptionBudgets: pdbs,
    persistentVolumeClaims: [],
    persistentVolumes: [],
    storageClasses: [],
    csiNodes: [],
    namespaces: [],
    instanceTypes: new Map(pools.map(({ metadata }) => [metadata.name, types])),
    nominated: new Map(),
    disrupting: new Set(),
  };
}

export function planned(parts: Partial<PlannedNodeClaim> = {}): PlannedNodeClaim {
  return {
    nodePool: "default",
    requirements: [{ key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] }],
    taints: [],
    labels: {},
    instanceTypes: ["small", "medium", "large", "huge"],
    requests: { cpu: "1" },
    pods: [],
    pricePerHour: 0.1,
    ...parts,
  };
}

/** A scheduler that finds room for every pod, apart from what `answer` overrides. */
export function simulated(answer: (options: SimulateOptions) => Partial<Plan>): (snapshot: Snapshot, options: SimulateOptions) => Plan {
  return (_, options) => ({ newNodeClaims: [], existingNodes: [], podErrors: {}, ...answer(options) });
}

export const roomForAll = simulated(() => ({}));
