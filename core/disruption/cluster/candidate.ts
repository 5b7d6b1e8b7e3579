import type { InstanceType } from "../../model/instance-type.ts";
import { CAPACITY_TYPE, INSTANCE_TYPE, NODE_POOL, ZONE } from "../../model/labels.ts";
import type { NodePool } from "../../model/node-pool.ts";
import type { Pod } from "../../model/pod.ts";
import { isCurrentlyReschedulable } from "../../pods/disruption-budget.ts";
import { rescheduleDisruptionCost } from "../../pods/eviction-cost.ts";
import { isReschedulable } from "../../pods/predicates.ts";
import { nodePrice } from "../prices/price.ts";
import type { Blocked, BlockedNode } from "./blocked.ts";
import { consolidatableFrom } from "./consolidate-after.ts";
import { NODE_RULES, POD_RULES } from "./rules/all.ts";
import type { Rule } from "./rules/rule.ts";
import { type ClusterView, type Machine, pdbsFor } from "./view.ts";

/** A node that may be disrupted. */
export interface Candidate {
  readonly machine: Machine;
  readonly nodeClaim: string;
  readonly node: string;
  readonly nodePool: NodePool;
  /** Undefined when the pool no longer offers it. */
  readonly instanceType: InstanceType | undefined;
  readonly pricePerHour: number;
  /** Pods that need a place elsewhere when the node goes. */
  readonly reschedulable: readonly Pod[];
  /** Those that a drain started now would really move; the rest stay until somebody lets them go. */
  readonly moving: readonly Pod[];
  readonly disruptionCost: number;
  /** How many pods' worth of room for CapacityBuffers lies on the node. */
  readonly virtualPods: number;
  /** ms; Infinity when only a change will do. */
  readonly consolidatableFrom: number;
  /** Set when a pod holds the node, which counts for everything but drift under a terminationGracePeriod. */
  readonly heldByPod: Blocked | undefined;
}

export interface Candidates {
  /** In the order of NodeClaim names. */
  readonly all: readonly Candidate[];
  readonly blocked: readonly BlockedNode[];
}

function firstOf(rules: readonly Rule[], machine: Machine, view: ClusterView): Blocked | undefined {
  for (const rule of rules) {
    const blocked = rule(machine, view);
    if (blocked) return blocked;
  }
  return undefined;
}

function candidateOf(machine: Machine, view: ClusterView): Candidate | Blocked {
  const blocked = firstOf(NODE_RULES, machine, view);
  if (blocked) return blocked;
  const poolName = machine.labels[NODE_POOL] ?? "";
  const nodePool = view.nodePools.get(poolName);
  // The rule on pools has just seen to this; said again for the compiler.
  if (nodePool === undefined) return { reason: "NodePoolNotFound", nodePool: poolName };
  const types = view.snapshot.instanceTypes.get(poolName) ?? [];
  const reschedulable = machine.pods.filter(isReschedulable);
  return {
    machine,
    nodeClaim: machine.claim.metadata.name,
    node: machine.name,
    nodePool,
    instanceType: types.find(({ name }) => name === machine.labels[INSTANCE_TYPE]),
    pricePerHour: nodePrice(machine.labels, types),
    reschedulable,
    moving: reschedulable.filter((pod) => isCurrentlyReschedulable(pod, pdbsFor(view, pod), view.now)),
    disruptionCost: rescheduleDisruptionCost(reschedulable),
    virtualPods: view.bufferRoom().byNode.get(machine.name) ?? 0,
    consolidatableFrom: consolidatableFrom(machine.claim, nodePool, machine.record),
    heldByPod: firstOf(POD_RULES, machine, view),
  };
}

/** Every NodeClaim's node that no standing rule protects, and why the others stay. */
export function findCandidates(view: ClusterView): Candidates {
  const all: Candidate[] = [];
  const blocked: BlockedNode[] = [];
  for (const name of [...view.machines.keys()].sort()) {
    const machine = view.machines.get(name);
    if (!machine) continue;
    const found = candidateOf(machine, view);
    if ("reason" in found) blocked.push({ node: machine.node?.metadata.name ?? "", nodeClaim: name, blocked: found });
    else all.push(found);
  }
  return { all, blocked };
}

/** No pod, or only pods whose moving counts for nothing (disruption.md §2), and no room that is kept for later. */
export function isEmpty(candidate: Candidate): boolean {
  return hasNothingToMove(candidate) && candidate.virtualPods === 0;
}

/** As far as pods that exist go. */
export function hasNothingToMove({ disruptionCost: cost }: Candidate): boolean {
  return cost <= 1;
}

/**
 * Sorts by Karpenter's SavingsRatio, price per disruption cost, highest first. Karpenter leaves the order of ties open;
 * here the node name decides, so that equal input gives equal output (karpenter: pkg/controllers/disruption/types.go, Candidate.SavingsRatio).
 */
export function byPricePerDisruptionCost(a: Candidate, b: Candidate): number {
  return b.pricePerHour / b.disruptionCost - a.pricePerHour / a.disruptionCost || (a.node < b.node ? -1 : 1);
}

/** Pods that would move if these nodes went. */
export function podsMoved(candidates: readonly Candidate[]): number {
  return candidates.reduce((sum, { moving }) => sum + moving.length, 0);
}

/** The same for the same nodes in any order. */
export function nameOfSet(candidates: readonly Candidate[]): string {
  return candidates
    .map(({ node }) => node)
    .sort()
    .join();
}

/** What the node is sold as: "on-demand", "spot" or "reserved". */
export function capacityTypeOf({ machine }: Candidate): string {
  return machine.labels[CAPACITY_TYPE] ?? "";
}

/** Empty where the node does not say: such a node has no price and is not consolidated. */
export function instanceTypeNameOf({ machine }: Candidate): string {
  return machine.labels[INSTANCE_TYPE] ?? "";
}

/** Empty where the node does not say. */
export function zoneOf({ machine }: Candidate): string {
  return machine.labels[ZONE] ?? "";
}
