import { simulateWithSolve } from "#core/disruption/consolidation/simulate.ts";
import { launchOfferings } from "#core/disruption/prices/price.ts";
import type { CommandRecord } from "#core/model/command-record.ts";
import type { InstanceType, Offering } from "#core/model/instance-type.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { PlannedNodeClaim } from "#core/model/plan.ts";
import type { Pod } from "#core/model/pod.ts";
import { formatResources } from "#core/model/quantity.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { allocatableOf } from "#core/offerings/overhead.ts";
import { isReschedulable, podKey } from "#core/pods/predicates.ts";
import { requirementsFrom } from "#core/requirements/requirements.ts";

const UP = ["Launched", "Registered", "Initialized", "Consolidatable"];

/** The cheapest available offering of a planned NodeClaim. Throws without one. */
function cheapestOffering(
  planned: PlannedNodeClaim,
  types: readonly InstanceType[],
): { readonly type: InstanceType; readonly offering: Offering } {
  const requirements = requirementsFrom(planned.requirements);
  const offerings = types
    .filter(({ name }) => planned.instanceTypes.includes(name))
    .flatMap((type) => launchOfferings(type, requirements).map((offering) => ({ type, offering })))
    .sort((a, b) => a.offering.price - b.offering.price || (a.type.name < b.type.name ? -1 : 1));
  const [cheapest] = offerings;
  if (!cheapest) throw new Error(`no planned instance type of ${planned.nodePool} has an available offering`);
  return cheapest;
}

/** An initialized node and its NodeClaim. */
export interface UpMachine {
  readonly node: Node;
  readonly claim: NodeClaim;
}

/** The node and NodeClaim of a planned claim launched as this offering, initialized and consolidatable. */
export function upMachine(
  name: string,
  planned: Pick<PlannedNodeClaim, "nodePool" | "requirements" | "taints" | "labels">,
  { type, offering }: { readonly type: InstanceType; readonly offering: Offering },
): UpMachine {
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

/** USD per hour of a node with these labels. */
export type PriceOf = (labels: Readonly<Record<string, string>>, types: readonly InstanceType[]) => number;

/** USD per hour of all nodes of the snapshot. */
export function hourlyCost(snapshot: Snapshot, priceOf: PriceOf): number {
  return snapshot.nodes.reduce((sum, { metadata }) => {
    const labels = metadata.labels ?? {};
    return sum + priceOf(labels, snapshot.instanceTypes.get(labels["karpenter.sh/nodepool"] ?? "") ?? []);
  }, 0);
}

/** A cluster after a command. */
export interface CarriedOut {
  readonly snapshot: Snapshot;
  /** The replacements. */
  readonly machines: readonly UpMachine[];
  /** Pods that moved: "namespace/name" to the name of the new node. */
  readonly landed: ReadonlyMap<string, string>;
  /** Running pods that became pending: "namespace/name" to the reason. */
  readonly unplaced: ReadonlyMap<string, string>;
}

type Command = Pick<CommandRecord, "id" | "candidates" | "replacements" | "destinations" | "onlyDestinations">;

/** "namespace/name" of a pod to its node name. */
type Places = ReadonlyMap<string, string>;

const HOW = { reservedMode: "fallback", settling: new Set<string>() } as const;

/**
 * Pods that were planned on replacements are on them, and so are those of a command that names all destinations; a new
 * solve places the others.
 */
function solvedAgain(
  cleared: Snapshot,
  { replacements, destinations = {}, onlyDestinations = false }: Command,
  moving: readonly Pod[],
  machines: readonly UpMachine[],
): Places {
  const places = new Map(replacements.flatMap(({ pods }, i) => pods.map((pod) => [pod, machines[i]?.node.metadata.name ?? ""])));
  const nodeOf = new Map(cleared.nodeClaims.map(({ metadata, status }) => [metadata.name, status?.nodeName]));
  for (const [pod, claim] of onlyDestinations ? Object.entries(destinations) : []) places.set(pod, nodeOf.get(claim) ?? "");
  const planned = moving.flatMap((pod): Pod[] => {
    const nodeName = places.get(podKey(pod));
    return nodeName === undefined ? [] : [{ ...pod, spec: { ...pod.spec, nodeName } }];
  });
  const others = moving.filter((pod) => !places.has(podKey(pod)));
  const filled = { ...cleared, pods: [...cleared.pods, ...planned] };
  const { existingNodes } = simulateWithSolve(filled, { ...HOW, excludeNodes: new Set(), extraPods: others });
  for (const { name, pods } of existingNodes) for (const pod of pods) places.set(pod, name);
  return places;
}

/** The placements of the plan behind the command, simulated again; undefined when the simulation gives another plan. */
function asPlanned(snapshot: Snapshot, command: Command, moving: readonly Pod[], machines: readonly UpMachine[]): Places | undefined {
  const podsOf = (claims: readonly { readonly pods: readonly string[] }[]): string =>
    JSON.stringify(claims.map(({ pods }) => [...pods].sort()));
  const excludeNodes = new Set(command.candidates.map(({ node }) => node));
  for (const effort of ["quick", "full"] as const) {
    const plan = simulateWithSolve(snapshot, { ...HOW, excludeNodes, extraPods: moving, effort });
    if (podsOf(plan.newNodeClaims) !== podsOf(command.replacements)) continue;
    const launched = plan.newNodeClaims.map(({ pods }, i) => ({ name: machines[i]?.node.metadata.name ?? "", pods }));
    return new Map([...plan.existingNodes, ...launched].flatMap(({ name, pods }) => pods.map((pod) => [pod, name])));
  }
  return undefined;
}

/**
 * Carries a command out: candidates removed, replacements initialized, and the moved pods where a new solve puts them.
 * When the new solve leaves a pod pending, the pods are where the plan behind the command put them, if that places all
 * of them.
 */
export function carriedOut(snapshot: Snapshot, command: Command): CarriedOut {
  const removed = new Set(command.candidates.map(({ node }) => node));
  const moving = snapshot.pods.filter((pod) => removed.has(pod.spec.nodeName ?? "") && isReschedulable(pod));
  const machines = command.replacements.map((planned, i) =>
    upMachine(`${command.id}-${i}`, planned, cheapestOffering(planned, snapshot.instanceTypes.get(planned.nodePool) ?? [])),
  );
  const claims = new Set(command.candidates.map(({ nodeClaim }) => nodeClaim));
  const cleared: Snapshot = {
    ...snapshot,
    nodes: [...snapshot.nodes.filter(({ metadata }) => !removed.has(metadata.name)), ...machines.map(({ node }) => node)],
    nodeClaims: [...snapshot.nodeClaims.filter(({ metadata }) => !claims.has(metadata.name)), ...machines.map(({ claim }) => claim)],
    pods: snapshot.pods.filter(({ spec }) => !removed.has(spec.nodeName ?? "")),
  };
  const nodeByPod = solvedAgain(cleared, command, moving, machines);
  const hasRoom = moving.every((pod) => nodeByPod.has(podKey(pod)));
  const nodeOf = hasRoom ? nodeByPod : (asPlanned(snapshot, command, moving, machines) ?? nodeByPod);
  const landed = new Map<string, string>();
  const unplaced = new Map<string, string>();
  const placed = moving.map((pod): Pod => {
    const key = podKey(pod);
    const { nodeName: _, ...spec } = pod.spec;
    const nodeName = nodeOf.get(key);
    if (nodeName === undefined) {
      unplaced.set(key, "neither a fresh solve nor the plan behind the command has room for it");
      return { ...pod, spec };
    }
    landed.set(key, nodeName);
    return { ...pod, spec: { ...spec, nodeName }, status: { ...pod.status, startTime: new Date(snapshot.now).toISOString() } };
  });
  return { snapshot: { ...cleared, pods: [...cleared.pods, ...placed] }, machines, landed, unplaced };
}

/** The cluster after a command. Throws when a running pod has no node after it, which is a fault of the command. */
export function carryOut(snapshot: Snapshot, command: CommandRecord): Snapshot {
  const { snapshot: after, unplaced } = carriedOut(snapshot, command);
  for (const [pod, why] of unplaced) throw new Error(`${pod} has no node after ${command.id}: ${why}`);
  return after;
}
