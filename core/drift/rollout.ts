import { type ConditionChange, conditionOf } from "../model/conditions.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { EC2NodeClass } from "../model/node-class.ts";
import type { NodePool } from "../model/node-pool.ts";
import { type DriftReason, driftOfClass, driftOfPool, isOfClass } from "./detect.ts";

/**
 * The condition Drifted of a NodePool, from its NodeClaims: True while any of them has drifted, with their number and
 * reasons in the message. NodeClaims that are being replaced count until they are gone.
 *
 * A NodeClaim has drifted when its own condition says so, which the disruption function writes, and when the
 * definitions alone show it, so that the condition is not False after a change that disruption has not looked at yet.
 */
export function rolloutOfPool(nodePool: NodePool, nodeClass: EC2NodeClass | undefined, claims: readonly NodeClaim[]): ConditionChange {
  return rollout(claims, (claim) => shownBy(claim) ?? driftOfPool({ claim, nodePool }) ?? driftOfClass({ claim, nodeClass }));
}

/** The same for an EC2NodeClass: NodeClaims that have drifted from it, and not from their NodePool alone. */
export function rolloutOfClass(nodeClass: EC2NodeClass, claims: readonly NodeClaim[]): ConditionChange {
  return rollout(claims, (claim) => {
    const shown = shownBy(claim);
    return shown !== undefined && isOfClass(shown) ? shown : driftOfClass({ claim, nodeClass });
  });
}

function shownBy({ status }: NodeClaim): string | undefined {
  const condition = conditionOf(status?.conditions, "Drifted");
  return condition?.status === "True" ? (condition.reason ?? "Drifted") : undefined;
}

function rollout(claims: readonly NodeClaim[], reasonOf: (claim: NodeClaim) => DriftReason | string | undefined): ConditionChange {
  const found = claims.flatMap((claim) => reasonOf(claim) ?? []);
  if (found.length === 0) return { type: "Drifted", status: "False", reason: "NotDrifted" };
  const counts = [...Map.groupBy(found, (reason) => reason)].sort(([a], [b]) => (a < b ? -1 : 1));
  const listed = counts.map(([reason, those]) => `${reason} ${those.length}`).join(", ");
  const message = `${found.length} of ${claims.length} NodeClaims have drifted: ${listed}`;
  return { type: "Drifted", status: "True", reason: "NodeClaimsDrifted", message };
}
