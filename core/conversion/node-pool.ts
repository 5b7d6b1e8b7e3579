import { listAt, type Path } from "../lib/json.ts";
import { lowerClaimTemplate, raiseClaimTemplate } from "./claim-template.ts";
import type { ManifestDraft } from "./draft.ts";

/** Path of the NodeClaim spec in a NodePool's template. */
export const TEMPLATE_SPEC: Path = ["spec", "template", "spec"];

const DISRUPTION: Path = ["spec", "disruption"];
const POLICY: Path = [...DISRUPTION, "consolidationPolicy"];
const CONSOLIDATE_AFTER: Path = [...DISRUPTION, "consolidateAfter"];
const EXPIRE_AFTER: Path = [...DISRUPTION, "expireAfter"];
const BUDGETS: Path = [...DISRUPTION, "budgets"];

/** `disruption` of v1beta1 as v1. An absent field stays absent where the defaults of both versions agree. */
export function raiseDisruption(draft: ManifestDraft): void {
  const policy = draft.get(POLICY);
  if (policy === "WhenUnderutilized") draft.set(POLICY, "WhenEmptyOrUnderutilized");
  draft.rename(EXPIRE_AFTER, [...TEMPLATE_SPEC, "expireAfter"]);
  // v1beta1 removed underutilized nodes without a wait. "Never" was allowed all the same; it disables consolidation in
  // both.
  const isWaiting = policy === "WhenEmpty" || draft.get(CONSOLIDATE_AFTER) !== undefined;
  if (draft.get(DISRUPTION) !== undefined && !isWaiting) draft.set(CONSOLIDATE_AFTER, "0s");
}

function lowerDisruption(draft: ManifestDraft): void {
  const policy = draft.get(POLICY);
  if (policy !== undefined && policy !== "WhenEmpty") draft.set(POLICY, "WhenUnderutilized");
  if (policy !== "WhenEmpty" && draft.get(CONSOLIDATE_AFTER) !== "Never") draft.remove(CONSOLIDATE_AFTER);
  draft.rename([...TEMPLATE_SPEC, "expireAfter"], EXPIRE_AFTER);
  for (const i of listAt(draft.object, BUDGETS).keys()) draft.remove([...BUDGETS, i, "reasons"]);
}

/** A v1beta1 NodePool as v1. */
export function raiseNodePool(draft: ManifestDraft): void {
  raiseDisruption(draft);
  raiseClaimTemplate(draft, TEMPLATE_SPEC);
  draft.remove([...TEMPLATE_SPEC, "resources"]);
}

/** A v1 NodePool as v1beta1, without the fields that v1beta1 does not have. */
export function lowerNodePool(draft: ManifestDraft): void {
  lowerDisruption(draft);
  lowerClaimTemplate(draft, TEMPLATE_SPEC);
  draft.remove(["spec", "replicas"]);
  for (const field of ["nodes", "nodeClassObservedGeneration"]) draft.remove(["status", field]);
}
