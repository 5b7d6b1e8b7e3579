import type { InstanceType } from "#core/model/instance-type.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import type { Taint } from "#core/model/taint.ts";
import { amounts, type Labels, valueAllowed } from "../../support/scheduling/judge-rules.ts";
import type { Random } from "./random.ts";

/** An existing machine: a Node, a Node with its NodeClaim, or, before it joins, the NodeClaim alone. */
export interface GeneratedMachine {
  readonly name: string;
  readonly labels: Labels;
  readonly taints: readonly Taint[];
  readonly zone: string;
  readonly allocatable: Readonly<Record<string, string>>;
  readonly node: Node | undefined;
  readonly claim: NodeClaim | undefined;
}

type State = "initialized" | "starting" | "launched" | "deleting" | "cordoned" | "unmanaged";
const STATES: readonly State[] = [
  ...Array<State>(14).fill("initialized"),
  "starting",
  "starting",
  "launched",
  "deleting",
  "deleting",
  "cordoned",
  "unmanaged",
];

/** Up to `most` machines of the NodePools, in every stage of the lifecycle. */
export function machines(random: Random, most: number, pools: readonly NodePool[], types: readonly InstanceType[]): GeneratedMachine[] {
  if (most === 0 || random.chance(0.25)) return [];
  return Array.from({ length: random.int(1, most) }, (_, i) => machine(random, i, random.pick(pools), types)).filter(
    (one) => one !== undefined,
  );
}

function machine(random: Random, i: number, pool: NodePool, types: readonly InstanceType[]): GeneratedMachine | undefined {
  const state = random.pick(STATES);
  const { requirements, taints = [], startupTaints = [], nodeClassRef } = pool.spec.template.spec;
  const bought = types.flatMap((type) =>
    type.offerings.flatMap((offering) => {
      if (offering.capacityType === "reserved") return [];
      const labels = labelsOf(random, pool, type, offering.zone, offering.capacityType);
      const admitted = requirements.every(({ key, operator, values }) => valueAllowed(operator, values ?? [], labels[key]));
      return admitted ? [{ type, labels, zone: offering.zone }] : [];
    }),
  );
  if (bought.length === 0) return undefined;
  const { type, labels, zone } = random.pick(bought);
  const name = `node-${i}`;
  const providerID = `aws:///${zone}/i-${String(i).padStart(17, "0")}`;
  const capacity = type.capacity as Record<string, string>;
  const resources = { capacity, allocatable: allocatableOf(type) };
  const creationTimestamp = `2025-12-${String(random.int(10, 30))}T00:00:00Z`;
  const own: Taint[] = [...taints];
  if (state === "starting")
    own.push({ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }, ...(random.chance(0.7) ? startupTaints : []));
  if (state === "cordoned") own.push({ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" });
  if (state === "deleting") own.push({ key: "karpenter.sh/disrupted", effect: "NoSchedule" });
  const unmanaged = state === "unmanaged";
  const nodeLabels = {
    ...(unmanaged ? Object.fromEntries(Object.entries(labels).filter(([key]) => !key.startsWith("karpenter"))) : labels),
    "kubernetes.io/hostname": name,
    ...(unmanaged ? {} : { "karpenter.sh/registered": "true" }),
    ...(unmanaged || state === "starting" ? {} : { "karpenter.sh/initialized": "true" }),
  };
  const node: Node | undefined =
    state === "launched"
      ? undefined
      : {
          apiVersion: "v1",
          kind: "Node",
          metadata: { name, uid: `uid-${name}`, creationTimestamp, labels: nodeLabels },
          spec: {
            providerID,
            ...(own.length === 0 ? {} : { taints: own }),
            ...(state === "cordoned" ? { unschedulable: true } : {}),
          },
          status: { ...resources, conditions: [{ type: "Ready", status: state === "starting" ? "False" : "True" }] },
        };
  const condition = (kind: string) => ({ type: kind, status: "True" as const, reason: kind, lastTransitionTime: creationTimestamp });
  const claimName = `${pool.metadata.name}-${String(i).padStart(5, "0")}`;
  const claim: NodeClaim | undefined = unmanaged
    ? undefined
    : {
        apiVersion: "karpenter.sh/v1",
        kind: "NodeClaim",
        metadata: {
          name: claimName,
          uid: `uid-${claimName}`,
          creationTimestamp,
          labels,
          ...(state === "deleting" ? { deletionTimestamp: "2025-12-31T23:59:00Z", finalizers: ["karpenter.sh/termination"] } : {}),
        },
        spec: {
          requirements,
          nodeClassRef,
          ...(taints.length === 0 ? {} : { taints }),
          ...(startupTaints.length === 0 ? {} : { startupTaints }),
          expireAfter: "720h",
        },
        status: {
          providerID,
          ...(node === undefined ? {} : { nodeName: name }),
          ...resources,
          conditions: ["Launched", ...(node ? ["Registered"] : []), ...(node && state !== "starting" ? ["Initialized"] : [])].map(
            condition,
          ),
        },
      };
  return {
    name: node === undefined ? claimName : name,
    labels: node === undefined ? labels : nodeLabels,
    taints: node === undefined ? taints : own,
    zone,
    allocatable: resources.allocatable,
    node,
    claim,
  };
}

function labelsOf(random: Random, pool: NodePool, type: InstanceType, zone: string, capacityType: string): Labels {
  const labels: Labels = {};
  for (const { key, operator, values = [] } of pool.spec.template.spec.requirements) {
    if (operator === "In") labels[key] = random.pick(values);
    else if (operator === "Exists" && key === "team") labels[key] = "red";
  }
  for (const { key, operator, values = [] } of type.requirements) {
    delete labels[key];
    if (operator === "In" && key !== "karpenter.k8s.aws/capacity-reservation-id" && values[0] !== undefined) labels[key] = values[0];
  }
  return {
    ...labels,
    ...pool.spec.template.metadata?.labels,
    "karpenter.sh/nodepool": pool.metadata.name,
    "karpenter.k8s.aws/ec2nodeclass": "default",
    "topology.kubernetes.io/region": "us-west-2",
    "topology.kubernetes.io/zone": zone,
    "karpenter.sh/capacity-type": capacityType,
  };
}

function allocatableOf({ capacity, overhead }: InstanceType): Record<string, string> {
  const held = [overhead.kubeReserved, overhead.evictionThreshold].map(amounts);
  const left = Object.entries(amounts(capacity)).map(
    ([name, n]) => [name, held.reduce((rest, one) => rest - (one[name] ?? 0), n)] as const,
  );
  const text = (name: string, n: number): string =>
    name === "cpu"
      ? `${Math.round(n * 1000)}m`
      : name === "memory" || name === "ephemeral-storage"
        ? `${Math.round(n / 2 ** 20)}Mi`
        : `${n}`;
  return Object.fromEntries(left.map(([name, n]) => [name, text(name, n)]));
}
