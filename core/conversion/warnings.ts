import { isJsonObject, textAt } from "../lib/json.ts";
import { KUBELET_ANNOTATION, UBUNTU_ANNOTATION } from "./versions.ts";

/**
 * Sentences about a v1 object that was converted from v1beta1 and behaves differently in v1; kubectl prints them as
 * warnings.
 */
export function conversionWarnings(object: unknown): readonly string[] {
  if (!isJsonObject(object)) return [];
  const annotation = (name: string): string | undefined => textAt(object, ["metadata", "annotations", name]);
  const warnings: string[] = [];
  if (annotation(KUBELET_ANNOTATION) !== undefined) {
    warnings.push(
      "spec.template.spec.kubelet of v1beta1 has no effect in v1: move it to spec.kubelet of the EC2NodeClass (convert does so)",
    );
  }
  const ubuntu = annotation(UBUNTU_ANNOTATION)?.split(",");
  if (ubuntu?.includes("incompatible")) {
    warnings.push(
      "amiFamily Ubuntu finds no image by itself any more: give spec.amiSelectorTerms that select yours, or nothing can be launched",
    );
  }
  return warnings;
}
