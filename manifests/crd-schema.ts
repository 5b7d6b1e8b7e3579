import { readFileSync } from "node:fs";
import { parse } from "yaml";
import type { Path } from "#core/lib/json.ts";
import { nearest } from "#core/lib/nearest.ts";
import { ownValue } from "#core/lib/own-value.ts";
import type { Problem, Schema } from "./schema.ts";
import { WORKLOAD_SCHEMAS } from "./workload-schema.ts";

/** Files in infra/crds by kind. */
const FILES: Readonly<Record<string, string>> = {
  NodePool: "karpenter.sh_nodepools.yaml",
  NodeClaim: "karpenter.sh_nodeclaims.yaml",
  EC2NodeClass: "karpenter.k8s.aws_ec2nodeclasses.yaml",
  NodeOverlay: "karpenter.sh_nodeoverlays.yaml",
  CapacityBuffer: "autoscaling.x-k8s.io_capacitybuffers.yaml",
};

const cache = new Map<string, Schema>();

function schemaOf(kind: string): Schema | undefined {
  const file = ownValue(FILES, kind);
  if (file === undefined) return ownValue(WORKLOAD_SCHEMAS, kind);
  const known = cache.get(kind);
  if (known) return known;
  const crd = parse(readFileSync(new URL(`../infra/crds/${file}`, import.meta.url), "utf8"), { maxAliasCount: -1 }) as {
    readonly spec: { readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[] };
  };
  const schema = crd.spec.versions[0]?.schema.openAPIV3Schema;
  if (schema) cache.set(kind, schema);
  return schema;
}

/**
 * What the schema of the kind refuses: the CRD of a kind of ours, WORKLOAD_SCHEMAS for Kubernetes' own. No problem for
 * other kinds.
 */
export function schemaProblems(kind: string, object: unknown): readonly Problem[] {
  const schema = schemaOf(kind);
  const problems: Problem[] = [];
  if (schema) check(schema, object, [], problems);
  return problems;
}

function check(schema: Schema, value: unknown, path: Path, problems: Problem[]): void {
  const fail = (message: string): void => {
    problems.push({ path, message });
  };
  if (schema["x-kubernetes-int-or-string"]) {
    if (typeof value !== "string" && !Number.isInteger(value)) fail(`must be a whole number or text, not ${show(value)}`);
  } else if (schema.type !== undefined && typeOf(value) !== schema.type && !(schema.type === "number" && typeof value === "number")) {
    fail(`must be ${ARTICLES[schema.type] ?? schema.type}, not ${show(value)}${quotes(schema.type, value)}`);
    return;
  }
  if (schema.enum && !schema.enum.includes(value)) fail(`${show(value)} is not known; use one of ${schema.enum.join(", ")}`);
  if (typeof value === "string") checkText(schema, value, fail);
  if (typeof value === "number") {
    if (schema.minimum !== undefined && value < schema.minimum) fail(`must be at least ${schema.minimum}, not ${value}`);
    if (schema.maximum !== undefined && value > schema.maximum) fail(`must be at most ${schema.maximum}, not ${value}`);
  }
  if (Array.isArray(value)) {
    if (schema.minItems !== undefined && value.length < schema.minItems) fail(`needs at least ${schema.minItems} item(s)`);
    if (schema.maxItems !== undefined && value.length > schema.maxItems)
      fail(`has ${value.length} items; at most ${schema.maxItems} are allowed`);
    for (const [i, item] of value.entries()) if (schema.items) check(schema.items, item, [...path, i], problems);
  } else if (typeof value === "object" && value !== null) {
    checkFields(schema, value as Readonly<Record<string, unknown>>, path, problems);
  }
}

function checkText(schema: Schema, value: string, fail: (message: string) => void): void {
  if (schema.minLength !== undefined && value.length < schema.minLength) fail("must not be empty");
  if (schema.maxLength !== undefined && value.length > schema.maxLength) fail(`is longer than ${schema.maxLength} characters`);
  if (schema.pattern !== undefined && !new RegExp(schema.pattern).test(value)) {
    const duration = schema.pattern.includes("(s|m|h)");
    fail(
      `"${value}" is not valid; ${duration ? 'write a duration such as "30s", "5m", "720h" (no days)' : `it must match ${schema.pattern}`}`,
    );
  }
}

function checkFields(schema: Schema, value: Readonly<Record<string, unknown>>, path: Path, problems: Problem[]): void {
  for (const [name, item] of Object.entries(value)) {
    const field = ownValue(schema.properties, name) ?? schema.additionalProperties;
    // A null field counts as absent, as in the API.
    if (item === null || item === undefined) continue;
    if (field) check(field, item, [...path, name], problems);
    else if (schema.properties && !schema["x-kubernetes-preserve-unknown-fields"]) {
      const near = nearest(name, Object.keys(schema.properties));
      problems.push({
        path: [...path, name],
        message: `is no field that is known here${near === undefined ? "" : `; did you mean "${near}"?`}`,
      });
    }
  }
  // Unknown fields come first: a misspelt field is the cause of a missing one.
  for (const name of schema.required ?? []) {
    const given = value[name] !== undefined && value[name] !== null;
    if (!given && schema.properties?.[name]?.default === undefined)
      problems.push({ path: [...path, name], message: "is missing; add it, the API requires it" });
  }
}

const ARTICLES: Readonly<Record<string, string>> = {
  string: "text",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "a map",
};

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (Number.isInteger(value)) return "integer";
  return typeof value;
}

const quotes = (wanted: string, value: unknown): string => (wanted === "string" && typeof value !== "object" ? "; put it in quotes" : "");

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 40 ? `${text.slice(0, 37)}…` : text;
}
