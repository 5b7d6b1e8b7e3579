import { fromRfc3339 } from "../model/conditions.ts";
import type { Condition } from "../model/kubernetes.ts";
import type { Node } from "../model/node.ts";
import { LEGACY_POLICIES, REPAIR_POLICIES, type RepairPolicy } from "./policies.ts";

/** What is wrong with a node, as a policy has it. */
export interface Fault {
  readonly condition: string;
  readonly status: Condition["status"];
  /** Of the condition; the node monitoring agent names the XID of a GPU here. */
  readonly reason: string;
  /** When it began, ms since the epoch. */
  readonly since: number;
  /** When its toleration ends, ms since the epoch. */
  readonly dueAt: number;
  /** The most that the drain may take, ms. */
  readonly drainMs: number;
  /** A reboot clears it. */
  readonly reboots: boolean;
}

/**
 * Share of a NodePool's nodes that may be unhealthy, of the cluster's nodes for claims without a NodePool. With more,
 * the cause is not the nodes, and replacing them would not help
 * (karpenter: pkg/controllers/disruption/repair.go, repairUnhealthyThreshold).
 */
const MAX_UNHEALTHY_SHARE = 0.2;

/** Whether a condition of the node is unhealthy, for however short a time. */
function isUnhealthy({ status }: Node): boolean {
  return (status?.conditions ?? []).some((one) => LEGACY_POLICIES.some((policy) => isOf(one, policy)));
}

/** Whether more than the allowed share, rounded up, is unhealthy. */
export function tooManyUnhealthy(nodes: readonly Node[]): boolean {
  return nodes.filter(isUnhealthy).length > Math.ceil(nodes.length * MAX_UNHEALTHY_SHARE);
}

/**
 * The faults of a node, the one whose toleration ends first at the front.
 * @param from tolerations begin no earlier, ms: with the end of a reboot, after which conditions may be old
 * (karpenter: pkg/controllers/node/health/policy.go, RepairPolicyMatcher.Match).
 */
export function faultsOf({ metadata, status }: Node, from = 0): readonly Fault[] {
  const created = Math.max(from, fromRfc3339(metadata.creationTimestamp) || 0);
  const faults = (status?.conditions ?? []).flatMap((one) => policiesFor(one).map((policy) => faultOf(one, policy, created)));
  return faults.sort((a, b) => a.dueAt - b.dueAt || (a.condition < b.condition ? -1 : 1));
}

/** A fault that came to so many nodes within an hour that the nodes are not its cause. */
export interface CommonFault extends Pick<Fault, "condition" | "status"> {
  readonly count: number;
  readonly total: number;
  /** When so few have come within an hour that nodes are repaired again, ms since the epoch. */
  readonly until: number;
}

const WINDOW_MS = 60 * 60_000;
/** So many nodes may have the same fault, however few there are. No benchmark has tuned it. */
const MIN_ALIKE = 2;
/** More never, however many nodes there are. No benchmark has tuned it. */
const MAX_ALIKE = 10;

/**
 * The faults that more than a fifth of the cluster's nodes, or more than ten, have had for less than an hour. A
 * NodePool of few nodes shows no such share, and a fifth of a large cluster is too much to lose: an image, a network or
 * a zone that fails is no reason to replace nodes. Karpenter has no such rule.
 */
export function commonFaults(nodes: readonly Node[], now: number): readonly CommonFault[] {
  const most = Math.max(MIN_ALIKE, Math.min(MAX_ALIKE, Math.ceil(nodes.length * MAX_UNHEALTHY_SHARE)));
  const recent = nodes.flatMap((node) => faultsOf(node)).filter(({ since }) => now - since < WINDOW_MS);
  return [...Map.groupBy(recent, ({ condition, status }) => `${condition}=${status}`).values()].flatMap((alike): CommonFault[] => {
    const newestFirst = alike.sort((a, b) => b.since - a.since);
    const last = newestFirst[most];
    if (last === undefined) return [];
    const { condition, status, since } = last;
    return [{ condition, status, count: alike.length, total: nodes.length, until: since + WINDOW_MS }];
  });
}

function faultOf({ reason = "", lastTransitionTime }: Condition, policy: RepairPolicy, created: number): Fault {
  const { condition, status, tolerationMs, drainMs, reboots = false } = policy;
  const since = Math.max(created, fromRfc3339(lastTransitionTime) || 0);
  // A condition is no older than its node; of one without a time nothing else is known.
  return { condition, status, reason, since, dueAt: since + tolerationMs, drainMs, reboots };
}

function policiesFor(condition: Condition): readonly RepairPolicy[] {
  const own = REPAIR_POLICIES.filter((policy) => isOf(condition, policy));
  const named = own.filter(({ reasons }) => reasons?.test(condition.reason ?? ""));
  return named.length > 0 ? named : own.filter(({ reasons }) => reasons === undefined);
}

const isOf = ({ type, status }: Condition, policy: Pick<RepairPolicy, "condition" | "status">): boolean =>
  type === policy.condition && status === policy.status;
