import { launchOfferings } from "../../../core/disruption/price.ts";
import { simulateWithSolve } from "../../../core/disruption/simulate.ts";
import type { InstanceType, Offering } from "../../../core/model/instance-type.ts";
import type { Node } from "../../../core/model/node.ts";
import type { NodeClaim } from "../../../core/model/node-claim.ts";
import type { PlannedNodeClaim } from "../../../core/model/plan.ts";
import type { Pod } from "../../../core/model/pod.ts";
import { formatResources } from "../../../core/model/quantity.ts";
import type { CommandRecord } from "../../../core/model/record.ts";
import type { Snapshot } from "../../../core/model/snapshot.ts";
import { allocatableOf } from "../../../core/offerings/overhead.ts";
import { isReschedulable, podKey } from "../../../core/pods/predicates.ts";
import { requirementsFrom } from "../../../core/requirements/requirements.ts";

const UP = ["Launched", "Registered", "Initialized", "Consolidatable"];

/** The cheapest way to buy what was planned. */
function bought(planned: PlannedNodeClaim, types: readonly InstanceType[]): { readonly type: InstanceType; readonly offering: Offering } {
  const requirements = requirementsFrom(planned.requirements);
  const ways = types
    .filter(({ name }) => planned.instanceTypes.includes(name))
    .flatMap((type) => launchOfferings(type, requirements).map((offering) => ({ type, offering })))
    .sort((a, b) => a.offering.price - b.offering.price || (a.type.name < b.type.name ? -1 : 1));
  const [way] = ways;
  if (!way) throw new Error(`nothing that was planned in ${planned.nodePool} can be bought`);
  return way;
}

function newMachine(name: string, planned: PlannedNodeClaim, snapshot: Snapshot): { readonly node: Node; readonly claim: NodeClaim } {
  const { type, offering } = bought(planned, snapshot.instanceTypes.get(planned.nodePool) ?? []);
  const single = [...planned.requirements, ...type.requirements].flatMap(({ key, operator, values }) =>
    operator === "In" && values?.length === 1 ? [[key, values[0] ?? ""]] : [],
  );
  const labels: Record<string, string> = {
    ...Object.fromEntries(single),
    ...planned.labels,
    "karpenter.k8s.aws/ec2nodeclass": "default",
    "karpenter.sh/nodepool": planned.nodePool,
    "karpenter.sh/registered": "true",
    "karpenter.sh/initialized": "true",
    "karpenter.sh/capacity-type": offering.capacityType,
    "node.kubernetes.io/instance-type": type.name,
    "topology.kubernetes.io/zone": offering.zone,
    "kubernetes.io/hostname": name,
  };
  const providerID = `aws:///${offering.zone}/i-${name}`;
  const allocatable = formatResources(allocatableOf(type));
  const metadata = { name, labels, creationTimestamp: "2026-01-01T00:00:00Z" };
  return {
    node: {
      metadata,
      spec: { providerID, taints: planned.taints },
      status: { capacity: type.capacity, allocatable, conditions: [{ type: "Ready", status: "True" }] },
    },
    claim: {
      metadata: { ...metadata, name: `${name}-claim` },
      spec: {
        requirements: planned.requirements,
        taints: planned.taints,
        nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" },
      },
      status: {
        providerID,
        nodeName: name,
        capacity: type.capacity,
        allocatable,
        conditions: UP.map((t) => ({ type: t, status: "True" as const })),
      },
    },
  };
}

/** What it costs now, USD per hour, by the price function given. */
export type PriceOf = (labels: Readonly<Record<string, string>>, types: readonly InstanceType[]) => number;

export function hourlyCost(snapshot: Snapshot, priceOf: PriceOf): number {
  return snapshot.nodes.reduce((sum, { metadata }) => {
    const labels = metadata.labels ?? {};
    return sum + priceOf(labels, snapshot.instanceTypes.get(labels["karpenter.sh/nodepool"] ?? "") ?? []);
  }, 0);
}

/**
 * The cluster after a command: its nodes gone, its replacements up, and the moved pods where the scheduler puts them. Throws when a pod
 * that ran has no place: that is what a command must never come to.
 */
export function carryOut(snapshot: Snapshot, command: CommandRecord): Snapshot {
  const gone = new Set(command.candidates.map(({ node }) => node));
  const moving = snapshot.pods.filter((pod) => gone.has(pod.spec.nodeName ?? "") && isReschedulable(pod));
  const machines = command.replacements.map((planned, i) => newMachine(`${command.id}-${i}`, planned, snapshot));
  const claims = new Set(command.candidates.map(({ nodeClaim }) => nodeClaim));
  const cleared: Snapshot = {
    ...snapshot,
    nodes: [...snapshot.nodes.filter(({ metadata }) => !gone.has(metadata.name)), ...machines.map(({ node }) => node)],
    nodeClaims: [...snapshot.nodeClaims.filter(({ metadata }) => !claims.has(metadata.name)), ...machines.map(({ claim }) => claim)],
    pods: snapshot.pods.filter(({ spec }) => !gone.has(spec.nodeName ?? "")),
  };
  const plan = simulateWithSolve(cleared, { excludeNodes: new Set(), extraPods: moving, reservedMode: "fallback", settling: new Set() });
  const nodeOf = new Map(plan.existingNodes.flatMap(({ name, pods }) => pods.map((pod) => [pod, name])));
  const placed = moving.map((pod): Pod => {
    const nodeName = nodeOf.get(podKey(pod));
    if (nodeName === undefined)
      throw new Error(`${podKey(pod)} has no place after ${command.id}: ${plan.podErrors[podKey(pod)] ?? "a new node"}`);
    return { ...pod, spec: { ...pod.spec, nodeName } };
  });
  return { ...cleared, pods: [...cleared.pods, ...placed] };
}
