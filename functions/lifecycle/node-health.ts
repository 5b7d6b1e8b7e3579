import { logEvent } from "#core/announcements/log-events.ts";
import { statusProblems } from "#core/interruption/instance-status.ts";
import { withConditions } from "#core/lifecycle/claim-status.ts";
import { consistency } from "#core/lifecycle/consistency.ts";
import { claimLogFields } from "#core/lifecycle/log-fields.ts";
import { isTrue, rfc3339 } from "#core/model/conditions.ts";
import { NODE_POOL } from "#core/model/labels.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { nodeOwners } from "#core/model/node-owner.ts";
import { RefusedError, ThrottledError } from "#core/ports/errors.ts";
import type { InstanceStatus } from "#core/ports/fleet.ts";
import type { PublishedEvent } from "#core/ports/kubernetes.ts";
import { planRepairs, type Repair } from "#core/repair/plan.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import { countRepair } from "../shared/count-repair.ts";
import { takeTurn } from "../shared/disruption-rate.ts";
import { interruptClaim } from "../shared/interrupt-claim.ts";
import { ignoreConflictOrGone } from "../shared/optimistic.ts";
import { pausedFor } from "../shared/pauses.ts";
import { publishOnce } from "../shared/publish-once.ts";
import { terminateClaim } from "../shared/terminate-claim.ts";
import { writeStatus } from "../shared/write-status.ts";

// What a sweep does about nodes and instances that are not healthy.

const REPAIR_BLOCKED_WINDOW_MS = 15 * 60_000;

/**
 * Under LEGACY_NODE_REPAIR, terminates the NodeClaims of nodes that have been unhealthy for too long (feature gate
 * NodeRepair), by force and at once (karpenter: pkg/controllers/node/legacyrepair/controller.go, Controller.Reconcile).
 * A NodeClaim that is terminating already is hastened.
 */
export async function repair(nodes: readonly Node[], claims: readonly NodeClaim[], deps: LifecycleDeps): Promise<void> {
  if (!deps.settings.nodeRepair || !deps.settings.legacyNodeRepair) return;
  const { repairs, blocked } = planRepairs({ nodes, claims, now: deps.now() });
  if (repairs.length > 0 && (await pausedFor("disruption", deps)) === undefined) for (const one of repairs) await replaceNode(one, deps);
  for (const one of blocked) {
    const pool = one.claim.metadata.labels?.[NODE_POOL];
    await publishBlocked(one, `more than 20% nodes are unhealthy in the ${pool === undefined ? "cluster" : "nodepool"}`, deps);
  }
}

async function replaceNode({ claim, node, condition }: Repair, deps: LifecycleDeps): Promise<void> {
  const { name, labels } = claim.metadata;
  const turn = await takeTurn(name, labels?.[NODE_POOL], [], deps);
  if (turn !== undefined) return publishBlocked({ claim, node }, `the cluster's disruption rate is used up until ${rfc3339(turn)}`, deps);
  if (!(await terminateClaim(name, "unhealthy", deps, { deadline: deps.now(), detail: `condition ${condition} of the node` }))) return;
  logEvent(deps.log, "deleting unhealthy node", { ...claimLogFields(name), Node: { name: node.metadata.name }, condition });
  countRepair(claim, { condition }, deps);
}

async function publishBlocked({ claim, node }: Pick<Repair, "claim" | "node">, message: string, deps: LifecycleDeps): Promise<void> {
  const pool = claim.metadata.labels?.[NODE_POOL];
  const abouts: readonly PublishedEvent["about"][] = [
    { kind: "Node", metadata: node.metadata },
    { kind: "NodeClaim", metadata: claim.metadata },
    ...(pool === undefined ? [] : [{ kind: "NodePool", metadata: { name: pool } } as const]),
  ];
  for (const about of abouts)
    await publishOnce({ type: "Warning", reason: "NodeRepairBlocked", message, about }, deps, REPAIR_BLOCKED_WINDOW_MS);
}

const INCONSISTENT_WINDOW_MS = 10 * 60_000;

/**
 * Sets the condition ConsistentStateFound of each initialized NodeClaim, and publishes an event when its node has less
 * than was promised (karpenter: pkg/controllers/nodeclaim/consistency/controller.go, Controller.Reconcile). Writes only
 * what has changed; an object with a conflict is left to the next sweep.
 */
export async function checkConsistency(nodes: readonly Node[], claims: readonly NodeClaim[], deps: LifecycleDeps): Promise<void> {
  const { claimOf } = nodeOwners(nodes, claims);
  const nodeOf = new Map(nodes.map((node) => [claimOf(node), node]));
  for (const claim of claims) {
    const conditions = claim.status?.conditions;
    const node = nodeOf.get(claim);
    if (node === undefined || claim.metadata.deletionTimestamp !== undefined || !isTrue(conditions, "Initialized")) continue;
    const { condition, issue } = consistency(claim, node);
    const after = withConditions({ now: deps.now() }, claim, [condition]);
    const status = { ...claim.status, conditions: after };
    if (after !== conditions) await ignoreConflictOrGone(writeStatus("NodeClaim", { ...claim, status }, conditions, deps));
    if (issue === undefined) continue;
    const about = { kind: "NodeClaim", metadata: claim.metadata } as const;
    if (after !== conditions) deps.log.error("failed consistency check", { ...claimLogFields(claim.metadata.name), issue });
    await publishOnce({ type: "Warning", reason: "FailedConsistencyCheck", message: issue, about }, deps, INCONSISTENT_WINDOW_MS);
  }
}

/** A status problem that lasts, or returns within this time, is counted once. */
const REPORT_WINDOW_MS = 60 * 60_000;

/**
 * Terminates the NodeClaims of instances whose EC2 status checks fail or for which EC2 has scheduled an event
 * (karpenter-provider-aws: pkg/providers/instancestatus/instancestatus.go, DefaultProvider.List). Makes no call for a
 * cluster without instances.
 */
export async function pollStatus(records: readonly NodeClaimRecord[], deps: LifecycleDeps): Promise<void> {
  const byInstance = new Map(records.flatMap((record) => (record.instance ? [[record.instance.id, record]] : [])));
  if (byInstance.size === 0 || deps.fleet.impaired === undefined) return;
  for (const status of await impaired(deps)) {
    const record = byInstance.get(status.instanceId);
    if (record === undefined) continue;
    for (const { category, kind } of statusProblems(status, deps.now())) {
      if (await deps.store.isFirstWithin(deps.cluster.name, `status/${status.instanceId}/${category}`, deps.now(), REPORT_WINDOW_MS))
        deps.metrics.count("interruption_instance_status_unhealthy_total", { category });
      await interruptClaim(record, kind, deps);
    }
  }
}

/** Empty when the call is throttled or not allowed: the rest of the sweep must run all the same. */
async function impaired({ cluster, fleet, store, log, now }: LifecycleDeps): Promise<readonly InstanceStatus[]> {
  try {
    return (await fleet.impaired?.()) ?? [];
  } catch (error) {
    if (error instanceof ThrottledError) return [];
    if (!(error instanceof RefusedError)) throw error;
    if (await store.isFirstWithin(cluster.name, "status-refused", now(), REPORT_WINDOW_MS))
      log.error("instance status checks are not looked at: allow ec2:DescribeInstanceStatus", { error: error.message });
    return [];
  }
}
