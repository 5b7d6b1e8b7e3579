import { withConditions } from "#core/lifecycle/claim-status.ts";
import { consistency } from "#core/lifecycle/consistency.ts";
import { claimLogFields } from "#core/lifecycle/log-fields.ts";
import { isTrue } from "#core/model/conditions.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import { nodeOwners } from "#core/model/node-owner.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import { ignoreConflictOrGone } from "../shared/optimistic.ts";
import { publishOnce } from "../shared/publish-once.ts";
import { writeStatus } from "../shared/write-status.ts";

const EVENT_WINDOW_MS = 10 * 60_000;

/**
 * Sets the condition ConsistentStateFound of each initialized NodeClaim, and publishes an event when its node has less
 * than was promised (karpenter: pkg/controllers/nodeclaim/consistency/controller.go, Controller.Reconcile). Writes only
 * what has changed; what another is writing now is left to the next sweep.
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
    await publishOnce({ type: "Warning", reason: "FailedConsistencyCheck", message: issue, about }, deps, EVENT_WINDOW_MS);
  }
}
