import { lowerClaimTemplate, raiseClaimTemplate } from "./claim-template.ts";
import type { ManifestDraft } from "./draft.ts";

/** A v1beta1 NodeClaim as v1. */
export function raiseNodeClaim(draft: ManifestDraft): void {
  raiseClaimTemplate(draft, ["spec"]);
}

/** A v1 NodeClaim as v1beta1, without the fields that v1beta1 does not have. */
export function lowerNodeClaim(draft: ManifestDraft): void {
  lowerClaimTemplate(draft, ["spec"]);
  draft.remove(["status", "lastPodEventTime"]);
}
