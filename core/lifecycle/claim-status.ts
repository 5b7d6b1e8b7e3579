import { type ConditionChange, withCondition, withReady } from "../model/conditions.ts";
import { CAPACITY_TYPE, NODE_POOL, ZONE } from "../model/labels.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { Action } from "./action.ts";

/** What is said of a NodeClaim that has launched and whose node has not joined. */
export const NODE_NOT_FOUND = {
  type: "Registered",
  status: "Unknown",
  reason: "NodeNotFound",
  message: "Node not registered with cluster",
} as const satisfies ConditionChange;

const DEPENDENTS = ["Launched", "Registered", "Initialized"];

/** The write that changes the NodeClaim's conditions; empty when they are up to date. */
export function writeConditions(view: { readonly now: number }, claim: NodeClaim, changes: readonly ConditionChange[]): readonly Action[] {
  const status = withConditions(view, claim, changes);
  if (status === claim.status?.conditions) return [];
  return [{ type: "WriteClaim", claim: { ...claim, status: { ...claim.status, conditions: status } }, metadata: false, status: true }];
}

/** The NodeClaim's conditions after the changes, with Ready computed again. */
export function withConditions(view: { readonly now: number }, claim: NodeClaim, changes: readonly ConditionChange[]) {
  const at = { now: view.now, ...(claim.metadata.generation === undefined ? {} : { generation: claim.metadata.generation }) };
  const before = claim.status?.conditions ?? [];
  const changed = changes.reduce((conditions, change) => withCondition(conditions, change, at), before);
  return withReady(changed, DEPENDENTS, at);
}

/** Metric labels of a NodeClaim. */
export function metricLabels(claim: NodeClaim | undefined, record: NodeClaimRecord): Readonly<Record<string, string>> {
  const labels = claim?.metadata.labels;
  return {
    nodepool: record.nodePool ?? labels?.[NODE_POOL] ?? "",
    capacity_type: record.instance?.capacityType ?? labels?.[CAPACITY_TYPE] ?? "",
    zone: record.instance?.zone ?? labels?.[ZONE] ?? "",
  };
}
