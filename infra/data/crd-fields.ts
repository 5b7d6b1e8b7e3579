import { parse } from "yaml";

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
}
interface Crd {
  readonly spec: {
    readonly versions: readonly { readonly name: string; readonly schema?: { readonly openAPIV3Schema?: Schema } }[];
  };
}

/**
 * What a user may write by the text of a CRD: a line for each field of its newest version ("spec.weight", lists as
 * "spec.taints[]"), one for each value of an enumeration ("spec.taints[].effect = NoSchedule"), and one for each
 * required field ("spec.template is required").
 */
export function crdFields(text: string): Set<string> {
  const lines = new Set<string>();
  const versions = (parse(text) as Crd).spec.versions;
  walk(versions.at(-1)?.schema?.openAPIV3Schema ?? {}, "", lines);
  return lines;
}

function walk(schema: Schema, path: string, lines: Set<string>): void {
  if (path !== "") lines.add(path);
  for (const value of schema.enum ?? []) lines.add(`${path} = ${String(value)}`);
  for (const name of schema.required ?? []) lines.add(`${join(path, name)} is required`);
  for (const [name, field] of Object.entries(schema.properties ?? {})) walk(field, join(path, name), lines);
  if (schema.items) walk(schema.items, `${path}[]`, lines);
  if (typeof schema.additionalProperties === "object") walk(schema.additionalProperties, `${path}{}`, lines);
}

const join = (path: string, name: string): string => (path === "" ? name : `${path}.${name}`);
