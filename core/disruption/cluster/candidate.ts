import type { DisruptionReason } from "../../model/command-record.ts";
import { fromRfc3339 } from "../../model/conditions.ts";
import type { InstanceType } from "../../model/instance-type.ts";
import { CAPACITY_TYPE, INSTANCE_TYPE, NODE_POOL, ZONE } from "../../model/labels.ts";
import type { NodePool } from "../../model/node-pool.ts";
import type { Pod } from "../../model/pod.ts";
import { podRequests } from "../../model/pod-requests.ts";
import { nodeCost, surplusPrice } from "../../offerings/node-cost.ts";
import { isCurrentlyReschedulable } from "../../pods/disruption-budget.ts";
import { evictionCosts, rescheduleDisruptionCost } from "../../pods/eviction-cost.ts";
import { isActive, isReschedulable } from "../../pods/predicates.ts";
import { paidNodes } from "../../scheduling/problem/paid-capacity.ts";
import type { CostedNode } from "../prices/cost.ts";
import { marginalPrice, nodePrice } from "../prices/price.ts";
import type { Blocked, BlockedNode } from "./blocked.ts";
import { consolidatableFrom } from "./consolidate-after.ts";
import { NODE_RULES, POD_RULES } from "./rules/all.ts";
import type { Rule } from "./rules/rule.ts";
import { type ClusterView, pdbsFor, type StateNode } from "./view.ts";

/**
 * A node that may be disrupted: its NodeClaim is managed and initialized, and no rule of the cluster (rules/all.ts)
 * blocks it. Methods filter, sort and choose candidates; a command stores the chosen ones as CommandCandidate
 * (karpenter: pkg/controllers/disruption/types.go, Candidate).
 *
 *     const { all, blocked } = findCandidates(viewCluster({ snapshot, records, commands, now, simulate }));
 *     all.filter(isEmpty).sort(byPricePerDisruptionCost);
 */
export interface Candidate extends CostedNode {
  readonly machine: StateNode;
  readonly nodeClaim: string;
  readonly node: string;
  readonly nodePool: NodePool;
  /** Undefined when the NodePool no longer offers the node's type. */
  readonly instanceType: InstanceType | undefined;
  /** USD; 0 when the node's offering is unknown, and next to nothing when a commitment pays for it. */
  readonly pricePerHour: number;
  /** Whether a Savings Plan or a reserved instance pays for it (paid-capacity.ts). */
  readonly isPaidFor: boolean;
  /** Surplus credits for the requests of its pods, if its type is burstable. */
  readonly surplusPerHour: number;
  /** Pods that must be rescheduled when the node is removed. */
  readonly reschedulable: readonly Pod[];
  /**
   * Those of `reschedulable` that a drain could evict now: neither do-not-disrupt nor a PodDisruptionBudget holds them.
   */
  readonly moving: readonly Pod[];
  /** Karpenter's RescheduleDisruptionCost, without a unit: 1 for the node, plus the eviction costs of its pods. */
  readonly disruptionCost: number;
  /** The part of `disruptionCost` that is of pods that started since `ClusterView.recentFrom`. */
  readonly recentCost: number;
  /** How many virtual pods of CapacityBuffers the node has room for. */
  readonly virtualPods: number;
  /** ms since the epoch; Infinity when time alone does not make the claim Consolidatable. */
  readonly consolidatableFrom: number;
  /** Set when a pod blocks the node; Drift ignores it when the claim has a terminationGracePeriod. */
  readonly heldByPod: Blocked | undefined;
}

/** What findCandidates returns. */
interface Candidates {
  /** In the order of NodeClaim names. */
  readonly all: readonly Candidate[];
  readonly blocked: readonly BlockedNode[];
}

function firstOf(rules: readonly Rule[], machine: StateNode, view: ClusterView): Blocked | undefined {
  for (const rule of rules) {
    const blocked = rule(machine, view);
    if (blocked) return blocked;
  }
  return undefined;
}

function startOf(status: Pod["status"]): number {
  return status?.startTime === undefined ? Number.NEGATIVE_INFINITY : fromRfc3339(status.startTime);
}

/** The machine as a candidate, or which of the rules about nodes blocks it. */
export function candidateOf(machine: StateNode, view: ClusterView, rules: readonly Rule[] = NODE_RULES): Candidate | Blocked {
  const blocked = firstOf(rules, machine, view);
  if (blocked) return blocked;
  const poolName = machine.labels[NODE_POOL] ?? "";
  const nodePool = view.nodePools.get(poolName);
  // The rule nodePool has checked this; the compiler cannot know.
  if (nodePool === undefined) return { reason: "NodePoolNotFound", nodePool: poolName };
  const types = view.snapshot.instanceTypes.get(poolName) ?? [];
  const reschedulable = machine.pods.filter(isReschedulable);
  const instanceType = types.find(({ name }) => name === machine.labels[INSTANCE_TYPE]);
  const isPaidFor = paidNodes(view.snapshot).has(machine.claim.metadata.name);
  return {
    machine,
    nodeClaim: machine.claim.metadata.name,
    node: machine.name,
    nodePool,
    instanceType,
    pricePerHour: marginalPrice(nodePrice(machine.labels, types), isPaidFor),
    isPaidFor,
    surplusPerHour: surplusPrice(instanceType, cpuRequested(machine.pods), view.costs),
    nodeCost: nodeCost(instanceType, view.costs),
    reschedulable,
    moving: reschedulable.filter((pod) => isCurrentlyReschedulable(pod, pdbsFor(view, pod), view.now)),
    disruptionCost: rescheduleDisruptionCost(reschedulable),
    recentCost: evictionCosts(reschedulable.filter(({ status }) => startOf(status) > view.recentFrom)),
    virtualPods: view.bufferRoom().byNode.get(machine.name) ?? 0,
    consolidatableFrom: consolidatableFrom(machine.claim, nodePool, machine.record),
    heldByPod: firstOf(POD_RULES, machine, view),
  };
}

/** The candidates among all NodeClaims that have an instance, and for every other why it is blocked. */
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

/**
 * Whether the node is empty: no reschedulable pods, or only pods of eviction cost 0 or less, and no room for virtual
 * pods of CapacityBuffers.
 */
export function isEmpty(candidate: Candidate): boolean {
  return hasNothingToMove(candidate) && candidate.virtualPods === 0;
}

/** Whether no existing pod counts against a removal; virtual pods are not looked at. */
export function hasNothingToMove({ disruptionCost: cost }: Candidate): boolean {
  return cost <= 1;
}

/**
 * Sorts by Karpenter's savings ratio, price per disruption cost, highest first. Karpenter leaves the order of ties
 * open; here the node name decides, so that equal input gives equal output
 * (karpenter: pkg/controllers/disruption/types.go, Candidate.SavingsRatio).
 */
export function byPricePerDisruptionCost(a: Candidate, b: Candidate): number {
  return b.pricePerHour / b.disruptionCost - a.pricePerHour / a.disruptionCost || (a.node < b.node ? -1 : 1);
}

/** Why a candidate stays: the budget of its NodePool is used up. */
export function budgetSpent({ node, nodeClaim, nodePool }: Candidate, disruption: DisruptionReason): BlockedNode {
  return { node, nodeClaim, blocked: { reason: "BudgetSpent", nodePool: nodePool.metadata.name, disruption } };
}

/** Milli-cpu that some pods request, without those that have ended. */
export function cpuRequested(pods: readonly Pod[]): number {
  return pods.filter(isActive).reduce((sum, pod) => sum + (podRequests(pod)["cpu"] ?? 0), 0);
}

/** How many pods would move if these nodes were removed. */
export function podsMoved(candidates: readonly Candidate[]): number {
  return candidates.reduce((sum, { moving }) => sum + moving.length, 0);
}

/** A key of the set: equal for the same nodes in any order. */
export function nameOfSet(candidates: readonly Candidate[]): string {
  return candidates
    .map(({ node }) => node)
    .sort()
    .join();
}

/** "on-demand", "spot" or "reserved"; empty where the node has no such label. */
export function capacityTypeOf({ machine }: Candidate): string {
  return machine.labels[CAPACITY_TYPE] ?? "";
}

/** Empty where the node has no such label: such a node has no price and is not consolidated. */
export function instanceTypeNameOf({ machine }: Candidate): string {
  return machine.labels[INSTANCE_TYPE] ?? "";
}

/** Empty where the node has no such label. */
export function zoneOf({ machine }: Candidate): string {
  return machine.labels[ZONE] ?? "";
}
