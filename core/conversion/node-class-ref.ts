import { equalJson, isJsonObject, type JsonObject, type Path, parseJson, textAt } from "../lib/json.ts";
import type { Draft } from "./draft.ts";
import { AWS, NODE_CLASS_KIND, NODE_CLASS_REF_ANNOTATION } from "./versions.ts";

const ANNOTATION: Path = ["metadata", "annotations", NODE_CLASS_REF_ANNOTATION];

/** v1beta1's reference, where only the name is needed, as v1's. The group is what stands before the slash of `apiVersion`. */
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

/** Gives the reference at `at` v1's form, and keeps how it was written in an annotation unless that follows from it. */
export function raiseNodeClassRef(draft: Draft, at: Path): void {
  const ref = draft.get(at);
  draft.remove(ANNOTATION);
  if (!isJsonObject(ref)) return;
  const raised = nodeClassRefToV1(ref);
  draft.set(at, raised);
  if (equalJson(toV1beta1(raised), ref)) return;
  const { kind, name, apiVersion, ...rest } = ref;
  // In the order in which Karpenter 1.0 writes it.
  const written = {
    ...(kind !== undefined && { kind }),
    ...(name !== undefined && { name }),
    ...(apiVersion !== undefined && { apiVersion }),
  };
  draft.set(ANNOTATION, JSON.stringify({ ...written, ...rest }));
}

/** Gives the reference at `at` v1beta1's form: the way it was once written, unless it has been changed since. */
export function lowerNodeClassRef(draft: Draft, at: Path): void {
  const ref = draft.get(at);
  const written = parseJson(textAt(draft.object, ANNOTATION));
  draft.remove(ANNOTATION);
  if (!isJsonObject(ref)) return;
  const isStill = isJsonObject(written) && equalJson(nodeClassRefToV1(written), ref);
  draft.set(at, isStill ? written : toV1beta1(ref));
}
