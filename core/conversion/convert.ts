// core/conversion: Karpenter's older API versions: v1beta1 to v1 and back for the webhook, and (upgrade/) old manifests
// to v1. Objects as JSON come in; objects, notes and the origins of their fields go out. HTTP, files and YAML must not
// be known here.

import { isJsonObject, type Json, type JsonObject, type Path, parseJson, setAt, textAt } from "../lib/json.ts";
import { ManifestDraft } from "./draft.ts";
import { lowerNodeClaim, raiseNodeClaim } from "./node-claim.ts";
import { lowerNodeClass, raiseNodeClass } from "./node-class.ts";
import { lowerNodePool, raiseNodePool } from "./node-pool.ts";
import { differences, readDifferences, restore } from "./residue.ts";
import { GROUP_OF, NODE_CLASS_KIND, RESIDUE_ANNOTATION } from "./versions.ts";

/** An object in another version, or one sentence why it cannot be converted. */
type Converted = { readonly ok: JsonObject } | { readonly error: string };

type Step = (draft: ManifestDraft) => void;

const RAISE: Readonly<Record<string, Step>> = { NodePool: raiseNodePool, NodeClaim: raiseNodeClaim, [NODE_CLASS_KIND]: raiseNodeClass };
const LOWER: Readonly<Record<string, Step>> = { NodePool: lowerNodePool, NodeClaim: lowerNodeClaim, [NODE_CLASS_KIND]: lowerNodeClass };

/**
 * Converts a NodePool, NodeClaim or EC2NodeClass between v1beta1 and v1, for the API server's conversion webhook.
 * Nothing is lost in either direction: annotations keep what the other version cannot express. It is restored on the
 * way back, unless the field was edited in between; then the edit wins. Of the metadata, only annotations change. An
 * object of the desired version is returned unchanged.
 */
export function convertObject(object: unknown, desiredApiVersion: string): Converted {
  if (!isJsonObject(object)) return { error: "this is no Kubernetes object; give a map with apiVersion, kind and metadata" };
  const { apiVersion, kind } = object;
  const group = typeof kind === "string" && Object.hasOwn(GROUP_OF, kind) ? GROUP_OF[kind] : undefined;
  const versions = [`${group}/v1beta1`, `${group}/v1`];
  const raise = group === undefined ? undefined : RAISE[String(kind)];
  const lower = group === undefined ? undefined : LOWER[String(kind)];
  if (raise === undefined || lower === undefined) {
    return { error: `kind ${String(kind)} has no other version; NodePool, NodeClaim and EC2NodeClass can be converted` };
  }
  const unknown = [apiVersion, desiredApiVersion].find((version) => !versions.includes(String(version)));
  if (unknown !== undefined) return { error: `${String(kind)} has no version ${String(unknown)}; use ${versions.join(" or ")}` };
  if (apiVersion === desiredApiVersion) return { ok: object as JsonObject };
  const isUp = desiredApiVersion === versions[1];
  return { ok: convertBy(object as JsonObject, desiredApiVersion, isUp ? raise : lower, isUp ? lower : raise) };
}

const RESIDUE: Path = ["metadata", "annotations", RESIDUE_ANNOTATION];

/** Converts by `there`, which may lose fields; the result's annotation keeps what `back` would not restore. */
function convertBy(object: JsonObject, apiVersion: string, there: Step, back: Step): JsonObject {
  const residue = readDifferences(parseJson(textAt(object, RESIDUE)));
  const bare = withAnnotation(object, RESIDUE, undefined);
  const result = restore(stepped(bare, apiVersion, there), residue);
  const lost = differences(stepped(result, String(object["apiVersion"]), back), bare);
  return lost.length === 0 ? result : withAnnotation(result, RESIDUE, JSON.stringify(lost));
}

function stepped(object: JsonObject, apiVersion: string, step: Step): JsonObject {
  const draft = ManifestDraft.of(object);
  draft.set(["apiVersion"], apiVersion);
  step(draft);
  return withoutEmptyAnnotations(draft.object);
}

function withAnnotation(object: JsonObject, path: Path, value: Json | undefined): JsonObject {
  return withoutEmptyAnnotations(setAt(object, path, value));
}

/** The API has no empty map of annotations. */
function withoutEmptyAnnotations(object: JsonObject): JsonObject {
  const metadata = object["metadata"];
  const annotations = isJsonObject(metadata) ? metadata["annotations"] : undefined;
  return isJsonObject(annotations) && Object.keys(annotations).length === 0
    ? setAt(object, ["metadata", "annotations"], undefined)
    : object;
}
