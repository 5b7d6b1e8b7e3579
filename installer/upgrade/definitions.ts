// What a change of CustomResourceDefinitions would lose.
// In: a definition as the cluster has it, and as a release has it. Out: versions and fields that the release does not
// have. No check asks anybody or changes anything.

import { isJsonObject } from "#core/lib/json.ts";
import type { KubeObject } from "../account/ports.ts";

interface Version {
  readonly name: string;
  readonly schema?: { readonly openAPIV3Schema?: Schema };
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
}

interface Definition extends KubeObject {
  readonly spec?: { readonly versions?: readonly Version[] };
  readonly status?: { readonly storedVersions?: readonly string[] };
}

const versionsOf = (object: KubeObject): readonly Version[] => (object as Definition).spec?.versions ?? [];

/**
 * Versions in which objects may be stored and that the next definition does not have: such objects could not be read
 * any more, and the API server refuses the definition.
 */
export function lostVersions(current: KubeObject | undefined, next: KubeObject): readonly string[] {
  const names = versionsOf(next).map(({ name }) => name);
  return ((current as Definition | undefined)?.status?.storedVersions ?? []).filter((stored) => !names.includes(stored));
}

/** A field of objects, as steps from the top; "*" is any item of a list or any key of a map. */
export type FieldPath = readonly string[];

/** Fields of `spec` in v1 that the next definition does not have: objects lose them with their next write. */
export function lostFields(current: KubeObject | undefined, next: KubeObject): readonly FieldPath[] {
  const [before, after] = [current, next].map((object) => {
    const version = object && versionsOf(object).find(({ name }) => name === "v1");
    return version?.schema?.openAPIV3Schema?.properties?.["spec"];
  });
  return before === undefined || after === undefined ? [] : missing(before, after, ["spec"]);
}

function missing(before: Schema, after: Schema, path: FieldPath): readonly FieldPath[] {
  if (after["x-kubernetes-preserve-unknown-fields"] === true) return [];
  const own = Object.entries(before.properties ?? {}).flatMap(([name, schema]) => {
    const kept = after.properties?.[name];
    return kept === undefined ? [[...path, name]] : missing(schema, kept, [...path, name]);
  });
  const [items, keptItems] = [before.items, after.items];
  const [values, keptValues] = [before.additionalProperties, after.additionalProperties];
  return [
    ...own,
    ...(items !== undefined && keptItems !== undefined ? missing(items, keptItems, [...path, "*"]) : []),
    ...(typeof values === "object" && typeof keptValues === "object" ? missing(values, keptValues, [...path, "*"]) : []),
  ];
}

/** Whether an object says something at the path. */
export function says(value: unknown, [step, ...rest]: FieldPath): boolean {
  if (step === undefined) return value !== undefined && value !== null;
  if (step === "*") return Object.values(isJsonObject(value) || Array.isArray(value) ? value : {}).some((item) => says(item, rest));
  return isJsonObject(value) && says((value as Readonly<Record<string, unknown>>)[step], rest);
}

export const pathText = (path: FieldPath): string => path.join(".").replaceAll(".*", "[]");
