import { lowerClaimTemplate, raiseClaimTemplate } from "./claim-template.ts";
import type { Draft } from "./draft.ts";

/** v1beta1's NodeClaim as v1's. */
export function raiseNodeClaim(draft: Draft): void {
  raiseClaimTemplate(draft, ["spec"]);
}

/** v1's NodeClaim as v1beta1's, without what it cannot hold. */
export function lowerNodeClaim(draft: Draft): void {
  lowerClaimTemplate(draft, ["spec"]);
  draft.remove(["status", "lastPodEventTime"]);
}
