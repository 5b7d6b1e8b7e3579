// core/node-pool: what a NodePool means: its validation, hash and status.
// NodePool objects with their NodeClaims, nodes and NodeClass come in; statuses, hashes and problems go out.
// Scheduling, launches and the API server must not be known here.

import { type ConditionChange, conditionOf, isTrue, rfc3339, withCondition, withoutCondition, withReady } from "../model/conditions.ts";
import type { Condition } from "../model/kubernetes.ts";
import { NODE_POOL, PRICE_PER_HOUR, SCHEDULE } from "../model/labels.ts";
import type { Node } from "../model/node.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { EC2NodeClass } from "../model/node-class.ts";
import { nodeOwners } from "../model/node-owner.ts";
import type { NodePool, NodePoolStatus } from "../model/node-pool.ts";
import { addResources, formatResources, parseResources, type Resources } from "../model/quantity.ts";
import { notReadyMessage } from "../node-class/readiness.ts";
import { withFreshRegistrationHealth } from "./registration-health.ts";
import { sleepOf, sleepText } from "./schedule.ts";
import { nodePoolProblems } from "./validate.ts";

export interface PoolContext {
  /** The NodeClass that the NodePool references; undefined when it does not exist. */
  readonly nodeClass: EC2NodeClass | undefined;
  readonly nodeClaims: readonly NodeClaim[];
  readonly nodes: readonly Node[];
  /** What the NodePool's nodes cost together, USD per hour, where a price cap asks for it. */
  readonly price?: number;
  /** The condition Drifted (core/drift/rollout.ts). */
  readonly rollout?: ConditionChange;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * A NodePool's status: the sum of its nodes' resources, whether new nodes can be created, and how many have drifted
 * (karpenter: pkg/controllers/nodepool/readiness/controller.go, Controller.Reconcile).
 */
export function nodePoolStatus(pool: NodePool, context: PoolContext): NodePoolStatus {
  const at = { now: context.now, ...(pool.metadata.generation !== undefined && { generation: pool.metadata.generation }) };
  const problems = nodePoolProblems(pool);
  const changes: readonly ConditionChange[] = [
    ...(context.rollout ? [context.rollout] : []),
    problems.length === 0
      ? { type: "ValidationSucceeded", status: "True" }
      : { type: "ValidationSucceeded", status: "False", reason: "NodePoolValidationFailed", message: problems.join("; ") },
    classVerdict(pool, context.nodeClass),
    ...sleepVerdict(pool, context.now),
  ];
  const before =
    pool.metadata.annotations?.[SCHEDULE] === undefined ? withoutCondition(pool.status?.conditions ?? [], "Asleep") : undefined;
  const conditions = changes.reduce<readonly Condition[]>(
    (list, change) => withCondition(list, change, at),
    before ?? pool.status?.conditions ?? [],
  );
  const resources = resourcesOf(pool, context);
  const { price } = context;
  const shown = { ...formatResources(resources), ...(price !== undefined && { [PRICE_PER_HOUR]: String(Math.round(price * 1e6) / 1e6) }) };
  const status = { ...pool.status, resources: shown, nodes: (resources["nodes"] ?? 0) / 1000, conditions };
  const fresh = withFreshRegistrationHealth(pool, status, context.nodeClass?.metadata.generation, context.now);
  return { ...fresh, conditions: withReady(fresh.conditions ?? [], ["ValidationSucceeded", "NodeClassReady"], at) };
}

/** The condition Asleep; none for a NodePool without a schedule. */
function sleepVerdict(pool: NodePool, now: number): readonly ConditionChange[] {
  if (pool.metadata.annotations?.[SCHEDULE] === undefined) return [];
  const sleep = sleepOf(pool, now);
  if (sleep.isAsleep) return [{ type: "Asleep", status: "True", reason: "Schedule", message: `NodePool ${sleepText(pool, sleep)}` }];
  const next = sleep.until === undefined ? "the NodePool never sleeps" : `the NodePool sleeps from ${rfc3339(sleep.until)} on`;
  return [{ type: "Asleep", status: "False", reason: "Schedule", message: next }];
}

function classVerdict(pool: NodePool, nodeClass: EC2NodeClass | undefined): ConditionChange {
  const type = "NodeClassReady";
  const { name } = pool.spec.template.spec.nodeClassRef;
  if (nodeClass === undefined) return { type, status: "False", reason: "NodeClassNotFound", message: `there is no EC2NodeClass ${name}` };
  if (nodeClass.metadata.deletionTimestamp !== undefined) {
    return { type, status: "False", reason: "NodeClassTerminating", message: `EC2NodeClass ${name} is being deleted` };
  }
  const ready = conditionOf(nodeClass.status?.conditions, "Ready");
  if (ready?.status === "True") return { type, status: "True" };
  if (ready?.status === "False") {
    return { type, status: "False", reason: ready.reason ?? "NodeClassNotReady", message: notReadyMessage(nodeClass) };
  }
  return { type, status: "False", reason: "NodeClassReadinessUnknown", message: `EC2NodeClass ${name} was not looked at yet` };
}

/**
 * Sum over the NodePool's nodes, in milli-units. A NodeClaim counts when it has an instance and is not being deleted.
 */
function resourcesOf(pool: NodePool, { nodeClaims, nodes }: PoolContext): Resources {
  const { claimOf } = nodeOwners(nodes, nodeClaims);
  const nodeByClaim = new Map(nodes.map((node) => [claimOf(node), node]));
  const ownerById = new Map([...nodeByClaim.keys()].map((claim) => [claim?.status?.providerID, claim]));
  let sum: Resources = { cpu: 0, memory: 0, pods: 0, "ephemeral-storage": 0, nodes: 0 };
  for (const claim of nodeClaims) {
    if (claim.metadata.labels?.[NODE_POOL] !== pool.metadata.name || !claim.status?.providerID) continue;
    if (claim.metadata.deletionTimestamp !== undefined || isTrue(claim.status.conditions, "InstanceTerminating")) continue;
    // Several NodeClaims may name one instance: it is the one's that has its node.
    if ((ownerById.get(claim.status.providerID) ?? claim) !== claim) continue;
    const node = nodeByClaim.get(claim);
    sum = addResources(sum, capacityOf(claim, node), { nodes: 1000 });
  }
  return sum;
}

/** Until a node is initialized, resources that it does not report are taken from its NodeClaim. */
function capacityOf(claim: NodeClaim, node: Node | undefined): Resources {
  const reported = parseResources(node?.status?.capacity);
  if (node !== undefined && isTrue(claim.status?.conditions, "Initialized")) return reported;
  const merged: Record<string, number> = { ...parseResources(claim.status?.capacity) };
  for (const name in reported) if (reported[name] !== 0) merged[name] = reported[name] ?? 0;
  return merged;
}
