import { ownValue } from "../lib/own-value.ts";
import type { ConditionChange } from "../model/conditions.ts";
import type { Node } from "../model/node.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import { parseQuantity } from "../model/quantity.ts";

/**
 * A node must have this share of the capacity that its NodeClaim promises
 * (karpenter: pkg/controllers/nodeclaim/consistency/nodeshape.go, NodeShape.Check).
 */
const MIN_CAPACITY_SHARE = 0.9;

/** Whether a node has the capacity that its NodeClaim promises; `issue` names the first resource that is short. */
interface Consistency {
  readonly condition: ConditionChange;
  readonly issue?: string;
}

/** Compares the capacity of a node with its NodeClaim's, for the resources that the NodeClaim requests. */
export function consistency(claim: NodeClaim, node: Node): Consistency {
  const type = "ConsistentStateFound";
  for (const [resource, requested] of Object.entries(claim.spec.resources?.requests ?? {})) {
    const expected = ownValue(claim.status?.capacity, resource);
    if (expected === undefined || parseQuantity(requested) === 0 || parseQuantity(expected) === 0) continue;
    const found = ownValue(node.status?.capacity, resource) ?? 0;
    const share = parseQuantity(found) / parseQuantity(expected);
    if (share >= MIN_CAPACITY_SHARE) continue;
    const issue = `expected ${expected} of resource ${resource}, but found ${found} (${(share * 100).toFixed(1)}% of expected)`;
    return { condition: { type, status: "False", reason: "ConsistencyCheckFailed", message: "Consistency Check Failed" }, issue };
  }
  return { condition: { type, status: "True" } };
}
