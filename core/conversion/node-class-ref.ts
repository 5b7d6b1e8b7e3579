import { equalJson, isJsonObject, type JsonObject, type Path, parseJson, textAt } from "../lib/json.ts";
import type { ManifestDraft } from "./draft.ts";
import { AWS, NODE_CLASS_KIND, NODE_CLASS_REF_ANNOTATION } from "./versions.ts";

const ANNOTATION: Path = ["metadata", "annotations", NODE_CLASS_REF_ANNOTATION];

/** A v1beta1 reference, which requires only the name, as v1. The group is the part of `apiVersion` before the slash. */
export function nodeClassRefToV1(ref: JsonObject): JsonObject {
  const { apiVersion, kind, name, ...rest } = ref;
  const [group = ""] = String(apiVersion ?? "").split("/");
  return { group: group || AWS, kind: kind || NODE_CLASS_KIND, ...(name !== undefined && { name }), ...rest };
}

function toV1beta1({ group, kind, name, ...rest }: JsonObject): JsonObject {
  return {
    apiVersion: `${typeof group === "string" ? group : AWS}/v1beta1`,
    kind: kind ?? NODE_CLASS_KIND,
    ...(name !== undefined && { name }),
    ...rest,
  };
}

/**
 * Converts the reference at `at` to v1, and keeps its written form in an annotation unless it follows from the v1 form.
 */
export function raiseNodeClassRef(draft: ManifestDraft, at: Path): void {
  const ref = draft.get(at);
  draft.remove(ANNOTATION);
  if (!isJsonObject(ref)) return;
  const raised = nodeClassRefToV1(ref);
  draft.set(at, raised);
  if (equalJson(toV1beta1(raised), ref)) return;
  const { kind, name, apiVersion, ...rest } = ref;
  // In the order in which Karpenter 1.0 writes the fields.
  const written = {
    ...(kind !== undefined && { kind }),
    ...(name !== undefined && { name }),
    ...(apiVersion !== undefined && { apiVersion }),
  };
  draft.set(ANNOTATION, JSON.stringify({ ...written, ...rest }));
}

/** Converts the reference at `at` to v1beta1: its original form, unless it has changed since. */
export function lowerNodeClassRef(draft: ManifestDraft, at: Path): void {
  const ref = draft.get(at);
  const written = parseJson(textAt(draft.object, ANNOTATION));
  draft.remove(ANNOTATION);
  if (!isJsonObject(ref)) return;
  const isStill = isJsonObject(written) && equalJson(nodeClassRefToV1(written), ref);
  draft.set(at, isStill ? written : toV1beta1(ref));
}
