import { conditionOf, fromRfc3339 } from "../../model/conditions.ts";
import type { Node } from "../../model/node.ts";
import { type CommonFault, commonFaults, type Fault, faultsOf, tooManyUnhealthy } from "../../repair/health.ts";
import { isRebootedEnough } from "../../repair/reboots.ts";
import { isStatic } from "../../static-capacity/claim.ts";
import { countReplicas } from "../../static-capacity/count.ts";
import type { Blocked, BlockedNode } from "../cluster/blocked.ts";
import { allowance, type PoolBudget } from "../cluster/budget.ts";
import { budgetSpent, type Candidate, candidateOf } from "../cluster/candidate.ts";
import { REPAIR_RULES } from "../cluster/rules/all.ts";
import type { ClusterView, StateNode } from "../cluster/view.ts";
import type { ConsolidationContext } from "../consolidation/consolidation.ts";
import type { Decision } from "../consolidation/decision.ts";
import type { DisruptionInput } from "../consolidation/input.ts";
import { tryRemoval } from "../consolidation/simulate.ts";
import { replacementsFor } from "./drift.ts";
import { staticReplacement } from "./static-drift.ts";
import { isRefilled, tryWithOwnPlace } from "./terminate-first.ts";

/** A node whose fault is no longer tolerated. */
interface RepairCandidate extends Candidate {
  readonly fault: Fault;
}

/** The unhealthy nodes of a cluster. */
export interface Unhealthy {
  /** In the order in which they are repaired. */
  readonly candidates: readonly RepairCandidate[];
  /** Those that are not repaired, and why. */
  readonly blocked: readonly BlockedNode[];
  /** When the toleration of a further fault ends, ms since the epoch; Infinity when none is tolerated. */
  readonly nextDueAt: number;
  /** Names of all unhealthy nodes: no pod is moved to them. */
  readonly nodes: ReadonlySet<string>;
}

/**
 * The nodes to repair: their fault is no longer tolerated, no rule about the node protects it, and few nodes of their
 * NodePool are unhealthy. What protects pods only bounds the drain
 * (karpenter: pkg/controllers/disruption/repair.go, Repair.ShouldDisrupt).
 */
export function findUnhealthy(view: ClusterView): Unhealthy {
  const candidates: RepairCandidate[] = [];
  const blocked: BlockedNode[] = [];
  const nodes = new Set<string>();
  let nextDueAt = Number.POSITIVE_INFINITY;
  const breaker = breakerOf(view);
  for (const machine of view.machines.values()) {
    const faults = machine.node ? faultsOf(machine.node, rebootedAt(machine)) : [];
    const [fault] = faults;
    if (fault === undefined) continue;
    nodes.add(machine.name);
    if (fault.dueAt > view.now) {
      nextDueAt = Math.min(nextDueAt, fault.dueAt);
      continue;
    }
    const due = faults.filter(({ dueAt }) => dueAt <= view.now);
    const found = repairable(machine, together([fault, ...due]), view, breaker);
    if ("reason" in found) blocked.push({ node: machine.name, nodeClaim: machine.claim.metadata.name, blocked: found });
    else candidates.push(found);
  }
  return { candidates: candidates.sort(byAge), blocked, nextDueAt, nodes };
}

/** When the last reboot of a node ended, ms; 0 without one. */
function rebootedAt({ claim }: StateNode): number {
  const last = conditionOf(claim.status?.conditions, "Rebooting");
  return last?.status === "False" ? fromRfc3339(last.lastTransitionTime) || 0 : 0;
}

/**
 * The faults of a node that are due as one: a fault that needs another machine decides, the shortest drain counts, and
 * the age of the first (karpenter: pkg/controllers/node/health/policy.go, RepairResult.mergePolicy).
 */
function together(due: readonly [Fault, ...Fault[]]): Fault {
  const [first] = due;
  const decides = due.find(({ reboots }) => !reboots) ?? first;
  return { ...decides, dueAt: first.dueAt, drainMs: Math.min(...due.map(({ drainMs }) => drainMs)) };
}

/** What stops repair, because the nodes are not the cause. */
interface Breaker {
  /** NodePools of which too many nodes are unhealthy, however short for. */
  readonly pools: ReadonlySet<string>;
  readonly common: readonly CommonFault[];
}

function repairable(machine: StateNode, fault: Fault, view: ClusterView, { pools, common }: Breaker): RepairCandidate | Blocked {
  const found = candidateOf(machine, view, REPAIR_RULES);
  if ("reason" in found) return found;
  const { name } = found.nodePool.metadata;
  if (pools.has(name)) return { reason: "TooManyUnhealthy", nodePool: name };
  const alike = common.find(({ condition, status }) => condition === fault.condition && status === fault.status);
  if (alike) return { reason: "CommonFault", ...alike };
  // All pods must leave within the bound of the drain, also those that nothing may evict now.
  return { ...found, moving: found.reschedulable, fault };
}

function breakerOf({ machines, now }: ClusterView): Breaker {
  const nodes: readonly (readonly [pool: string, node: Node])[] = [...machines.values()].flatMap(({ node, nodePool }) =>
    node && nodePool !== undefined ? [[nodePool, node]] : [],
  );
  const byPool = Map.groupBy(nodes, ([pool]) => pool);
  const isTripped = (pool: string): boolean => tooManyUnhealthy((byPool.get(pool) ?? []).map(([, node]) => node));
  return {
    pools: new Set([...byPool.keys()].filter(isTripped)),
    common: commonFaults(
      nodes.map(([, node]) => node),
      now,
    ),
  };
}

/**
 * Karpenter's score where all policies have one priority: the longer a fault is due, the sooner the node is repaired
 * (karpenter: pkg/controllers/disruption/repair.go, Repair.computeCommands).
 */
function byAge(a: RepairCandidate, b: RepairCandidate): number {
  return a.fault.dueAt - b.fault.dueAt || a.disruptionCost - b.disruptionCost || (a.node < b.node ? -1 : 1);
}

/** What a node is repaired with. */
interface RepairTools extends Pick<ConsolidationContext, "view" | "simulate" | "settings"> {
  /** Names of all unhealthy nodes. */
  readonly nodes: ReadonlySet<string>;
  readonly counts: ReturnType<typeof countReplicas>;
}

/**
 * Karpenter's Repair: the first unhealthy node that the budgets allow and whose pods all schedule elsewhere, with any
 * number of replacements, which come first. A node that is not initialized runs nothing that a budget protects.
 * @param from those of the candidates that the disruption rate allows
 */
export function repair(
  context: Pick<ConsolidationContext, "view" | "simulate" | "settings">,
  { candidates, blocked: standing, nodes }: Unhealthy,
  from: ReadonlySet<Candidate>,
  budgets: ReadonlyMap<string, PoolBudget>,
  { commands, records }: Pick<DisruptionInput, "commands" | "records">,
): Decision {
  const budget = allowance(budgets);
  const blocked = [...standing];
  const eligible = candidates.length;
  const counts = countReplicas({ claims: context.view.snapshot.nodeClaims, records, commands });
  for (const candidate of candidates.filter((one) => from.has(one))) {
    if (candidate.machine.initialized && !budget.take(candidate.nodePool.metadata.name)) {
      blocked.push(budgetSpent(candidate, "Unhealthy"));
      continue;
    }
    const repaired = repairOf(candidate, { ...context, nodes, counts });
    if (repaired !== undefined && "candidates" in repaired) return { found: repaired, blocked, eligible };
    if (repaired) blocked.push({ node: candidate.node, nodeClaim: candidate.nodeClaim, blocked: repaired });
  }
  return { blocked, eligible };
}

/** How one node is repaired, or why it stays; undefined where its NodePool needs no node in its place. */
function repairOf(candidate: RepairCandidate, tools: RepairTools): NonNullable<Decision["found"]> | Blocked | undefined {
  const { view, settings } = tools;
  const { condition, reason, drainMs, reboots } = candidate.fault;
  const found = { candidates: [candidate], repair: { condition, reason, drainMs } };
  if (reboots && settings.rebootForRepair && !isRebootedEnough(candidate.machine.record, view.now))
    return { ...found, replacements: [], repair: { ...found.repair, reboots } };
  return isStatic(candidate.nodePool) ? staticRepair(candidate, found, tools) : replaced(candidate, found, tools);
}

type Found = Pick<NonNullable<Decision["found"]>, "candidates" | "repair">;

function staticRepair(candidate: RepairCandidate, found: Found, { view, settings, counts }: RepairTools) {
  const { name } = candidate.nodePool.metadata;
  const replacement = staticReplacement(candidate, view, counts.get(name));
  if (typeof replacement !== "string") return { ...found, replacements: [replacement] };
  if (replacement !== "AtLimit") return undefined;
  if (settings.terminateFirstRepair && isRefilled(candidate.nodePool))
    return { ...found, replacements: [], terminateFirst: "static-at-limit" } as const;
  return { reason: "StaticAtLimit", nodePool: name } as const;
}

function replaced(candidate: RepairCandidate, found: Found, { view, simulate, settings, nodes }: RepairTools) {
  const trial = tryRemoval(view, [candidate], simulate, { settle: false, closed: nodes });
  const { destinations } = trial;
  if (trial.unplaced.length === 0) return { ...found, replacements: replacementsFor(candidate, trial), destinations };
  const freed = settings.terminateFirstRepair ? tryWithOwnPlace(view, candidate, simulate, nodes) : undefined;
  if (freed) return { ...found, ...freed };
  return { reason: "PodsUnplaced", errors: trial.unplaced } as const;
}
