import { withConditions } from "../../core/lifecycle/claim-status.ts";
import { consistency } from "../../core/lifecycle/consistency.ts";
import { isTrue } from "../../core/model/conditions.ts";
import type { Node } from "../../core/model/node.ts";
import type { NodeClaim } from "../../core/model/node-claim.ts";
import { ConflictError, NotFoundError } from "../../core/ports/errors.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import { publishOnce } from "../shared/publish-once.ts";
import { claimLogFields } from "./log-fields.ts";

const TELL_MS = 10 * 60_000;

/** Says on each initialized claim whether its node is still what was promised (nodeclaim-lifecycle.md §8). Writes only what has changed. */
export async function checkConsistency(nodes: readonly Node[], claims: readonly NodeClaim[], deps: LifecycleDeps): Promise<void> {
  const nodeByProviderId = new Map(nodes.map((node) => [node.spec.providerID, node]));
  for (const claim of claims) {
    const { providerID, conditions } = claim.status ?? {};
    const node = providerID === undefined ? undefined : nodeByProviderId.get(providerID);
    if (node === undefined || claim.metadata.deletionTimestamp !== undefined || !isTrue(conditions, "Initialized")) continue;
    const { condition, issue } = consistency(claim, node);
    const after = withConditions({ now: deps.now() }, claim, [condition]);
    if (after !== conditions) await write({ ...claim, status: { ...claim.status, conditions: after } }, deps);
    if (issue === undefined) continue;
    const about = { kind: "NodeClaim", metadata: claim.metadata } as const;
    if (after !== conditions) deps.log.error("failed consistency check", { ...claimLogFields(claim.metadata.name), issue });
    await publishOnce({ type: "Warning", reason: "FailedConsistencyCheck", message: issue, about }, deps, TELL_MS);
  }
}

/** A claim that others write at this moment is looked at again by the next sweep. */
async function write(claim: NodeClaim, { kubernetes }: LifecycleDeps): Promise<void> {
  try {
    await kubernetes.updateStatus("NodeClaim", claim);
  } catch (error) {
    if (!(error instanceof ConflictError || error instanceof NotFoundError)) throw error;
  }
}
