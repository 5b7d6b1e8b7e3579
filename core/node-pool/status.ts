import { type ConditionChange, conditionOf, isTrue, withCondition, withReady } from "../model/conditions.ts";
import type { Condition } from "../model/kubernetes.ts";
import { NODE_POOL } from "../model/labels.ts";
import type { Node } from "../model/node.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { EC2NodeClass } from "../model/node-class.ts";
import type { NodePool, NodePoolStatus } from "../model/node-pool.ts";
import { addResources, formatResources, parseResources, type Resources } from "../model/quantity.ts";
import { withFreshRegistrationHealth } from "./registration-health.ts";
import { nodePoolProblems } from "./validate.ts";

export interface PoolContext {
  /** The class that the pool names; undefined when there is none. */
  readonly nodeClass: EC2NodeClass | undefined;
  readonly nodeClaims: readonly NodeClaim[];
  readonly nodes: readonly Node[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A pool's status: what its nodes add up to, and whether new ones can be made (nodepool.md §5). */
export function nodePoolStatus(pool: NodePool, context: PoolContext): NodePoolStatus {
  const at = { now: context.now, ...(pool.metadata.generation !== undefined && { generation: pool.metadata.generation }) };
  const problems = nodePoolProblems(pool);
  const changes: readonly ConditionChange[] = [
    problems.length === 0
      ? { type: "ValidationSucceeded", status: "True" }
      : { type: "ValidationSucceeded", status: "False", reason: "NodePoolValidationFailed", message: problems.join("; ") },
    classVerdict(pool, context.nodeClass),
  ];
  const conditions = changes.reduce<readonly Condition[]>((list, change) => withCondition(list, change, at), pool.status?.conditions ?? []);
  const resources = resourcesOf(pool, context);
  const status = { ...pool.status, resources: formatResources(resources), nodes: (resources["nodes"] ?? 0) / 1000, conditions };
  const told = withFreshRegistrationHealth(pool, status, context.nodeClass?.metadata.generation, context.now);
  return { ...told, conditions: withReady(told.conditions ?? [], ["ValidationSucceeded", "NodeClassReady"], at) };
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
    return { type, status: "False", reason: ready.reason ?? "NodeClassNotReady", message: ready.message ?? "" };
  }
  return { type, status: "False", reason: "NodeClassReadinessUnknown", message: `EC2NodeClass ${name} was not looked at yet` };
}

/** Sum over the pool's nodes, in milli-units. A claim counts once it has an instance; one that goes counts nothing. */
function resourcesOf(pool: NodePool, { nodeClaims, nodes }: PoolContext): Resources {
  const nodeByProviderId = new Map(nodes.map((node) => [node.spec.providerID, node]));
  let sum: Resources = { cpu: 0, memory: 0, pods: 0, "ephemeral-storage": 0, nodes: 0 };
  for (const claim of nodeClaims) {
    if (claim.metadata.labels?.[NODE_POOL] !== pool.metadata.name || !claim.status?.providerID) continue;
    if (claim.metadata.deletionTimestamp !== undefined || isTrue(claim.status.conditions, "InstanceTerminating")) continue;
    const node = nodeByProviderId.get(claim.status.providerID);
    sum = addResources(sum, capacityOf(claim, node), { nodes: 1000 });
  }
  return sum;
}

/** Until a node is initialized, what it does not tell yet is taken from its claim. */
function capacityOf(claim: NodeClaim, node: Node | undefined): Resources {
  const told = parseResources(node?.status?.capacity);
  if (node !== undefined && isTrue(claim.status?.conditions, "Initialized")) return told;
  const merged: Record<string, number> = { ...parseResources(claim.status?.capacity) };
  for (const name in told) if (told[name] !== 0) merged[name] = told[name] ?? 0;
  return merged;
}
