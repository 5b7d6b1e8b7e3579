import { isJsonObject, type Json, listAt, type Path, parseJson, textAt } from "../lib/json.ts";
import type { ManifestDraft } from "./draft.ts";
import { lowerNodeClassRef, raiseNodeClassRef } from "./node-class-ref.ts";
import { KUBELET_ANNOTATION } from "./versions.ts";

/**
 * Steps that NodeClaims and the templates of NodePools share between v1beta1 and v1. `spec` is the path of their spec.
 */

const PARKED: Path = ["metadata", "annotations", KUBELET_ANNOTATION];

/** In v1 the kubelet block belongs to EC2NodeClass: an annotation keeps it here. */
export function raiseClaimTemplate(draft: ManifestDraft, spec: Path): void {
  draft.remove(PARKED);
  const kubelet = draft.remove([...spec, "kubelet"]);
  if (kubelet !== undefined) draft.set(PARKED, JSON.stringify(kubelet));
  raiseNodeClassRef(draft, [...spec, "nodeClassRef"]);
}

export function lowerClaimTemplate(draft: ManifestDraft, spec: Path): void {
  for (const field of ["expireAfter", "terminationGracePeriod"]) draft.remove([...spec, field]);
  const kubelet = parseJson(textAt(draft.object, PARKED));
  if (isJsonObject(kubelet)) {
    draft.remove(PARKED);
    draft.set([...spec, "kubelet"], kubelet);
  }
  lowerNodeClassRef(draft, [...spec, "nodeClassRef"]);
  const requirements: Path = [...spec, "requirements"];
  for (const [i, requirement] of listAt(draft.object, requirements).entries())
    draft.set([...requirements, i], lowerRequirement(requirement));
}

/**
 * v1beta1 has only Gt and Lt: "at least 4" is "more than 3". "At least 0" holds for every number, so only the label
 * must exist.
 */
function lowerRequirement(requirement: Json): Json {
  if (!isJsonObject(requirement) || !Array.isArray(requirement["values"])) return requirement;
  const [bound] = requirement["values"];
  if (typeof bound !== "string" || !/^\d+$/.test(bound)) return requirement;
  const { values: _, ...rest } = requirement;
  switch (requirement["operator"]) {
    case "Gte":
      if (BigInt(bound) === 0n) return { ...rest, operator: "Exists" };
      return { ...requirement, operator: "Gt", values: [String(BigInt(bound) - 1n)] };
    case "Lte":
      return { ...requirement, operator: "Lt", values: [String(BigInt(bound) + 1n)] };
    default:
      return requirement;
  }
}
