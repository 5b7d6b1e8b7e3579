import { listAt, type Path } from "../lib/json.ts";
import { lowerClaimTemplate, raiseClaimTemplate } from "./claim-template.ts";
import type { Draft } from "./draft.ts";

/** Where a NodePool's template has its claim's spec. */
export const TEMPLATE_SPEC: Path = ["spec", "template", "spec"];

const DISRUPTION: Path = ["spec", "disruption"];
const POLICY: Path = [...DISRUPTION, "consolidationPolicy"];
const CONSOLIDATE_AFTER: Path = [...DISRUPTION, "consolidateAfter"];
const EXPIRE_AFTER: Path = [...DISRUPTION, "expireAfter"];
const BUDGETS: Path = [...DISRUPTION, "budgets"];

/** `disruption` of v1beta1 as v1's. What is absent stays so where the defaults of both mean the same. */
export function raiseDisruption(draft: Draft): void {
  const policy = draft.get(POLICY);
  if (policy === "WhenUnderutilized") draft.set(POLICY, "WhenEmptyOrUnderutilized");
  draft.rename(EXPIRE_AFTER, [...TEMPLATE_SPEC, "expireAfter"]);
  // Underutilized nodes went without a wait; "Never" could be said all the same, and turns consolidation off in both.
  const isWaiting = policy === "WhenEmpty" || draft.get(CONSOLIDATE_AFTER) !== undefined;
  if (draft.get(DISRUPTION) !== undefined && !isWaiting) draft.set(CONSOLIDATE_AFTER, "0s");
}

function lowerDisruption(draft: Draft): void {
  const policy = draft.get(POLICY);
  if (policy !== undefined && policy !== "WhenEmpty") draft.set(POLICY, "WhenUnderutilized");
  if (policy !== "WhenEmpty" && draft.get(CONSOLIDATE_AFTER) !== "Never") draft.remove(CONSOLIDATE_AFTER);
  draft.rename([...TEMPLATE_SPEC, "expireAfter"], EXPIRE_AFTER);
  for (const i of listAt(draft.object, BUDGETS).keys()) draft.remove([...BUDGETS, i, "reasons"]);
}

/** v1beta1's NodePool as v1's. */
export function raiseNodePool(draft: Draft): void {
  raiseDisruption(draft);
  raiseClaimTemplate(draft, TEMPLATE_SPEC);
  draft.remove([...TEMPLATE_SPEC, "resources"]);
}

/** v1's NodePool as v1beta1's, without what it cannot hold. */
export function lowerNodePool(draft: Draft): void {
  lowerDisruption(draft);
  lowerClaimTemplate(draft, TEMPLATE_SPEC);
  draft.remove(["spec", "replicas"]);
  for (const field of ["nodes", "nodeClassObservedGeneration"]) draft.remove(["status", field]);
}
