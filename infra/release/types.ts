import * as z from "zod";
import { wrap } from "#core/lib/wrap.ts";
import { CLUSTER, DEPLOYMENT } from "../deployment-notes.ts";
import { CLUSTER_SCHEMA, DEPLOYMENT_SCHEMA } from "../settings.ts";

/** The parts of JSON Schema that zod makes of the settings. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
}

const schemaOf = (schema: z.ZodType): Schema => z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Schema;

/** The types of the package's main export, made from the schema of the settings and their notes. */
export function packageTypes(): string {
  // The app has a synthesizer of its own, and `env` says the region.
  const { clusters: _clusters, assetsBucket: _bucket, region: _region, ...settings } = schemaOf(DEPLOYMENT_SCHEMA).properties ?? {};
  return `import type { Environment, Stack } from "aws-cdk-lib";
import { Construct } from "constructs";

/** The version of the package. */
export declare const VERSION: string;

/** A cluster; a text is its name. */
export interface ClusterProps {
${members(schemaOf(CLUSTER_SCHEMA), CLUSTER)}
}

export interface KarpenterServerlessProps {
  /** The clusters, at least one, by name or with settings. */
  readonly clusters: readonly (string | ClusterProps)[];
  /** Account and region of the stack; those of the credentials when absent. */
  readonly env?: Environment;
${members({ properties: settings }, DEPLOYMENT)}
}

/**
 * An autoscaler for EKS clusters. It makes a stack of its own beside the app's, which \`cdk deploy\` deploys.
 * Throws one sentence about a wrong setting.
 */
export declare class KarpenterServerless extends Construct {
  /** The functions' stack, whose outputs say the rest. */
  readonly stack: Stack;
  /** A stack for each cluster of another account, which is deployed there. */
  readonly accessStacks: readonly Stack[];
  constructor(scope: Construct, id: string, props: KarpenterServerlessProps);
}
`;
}

function members({ properties = {}, required = [] }: Schema, notes: Readonly<Record<string, string>>): string {
  return Object.entries(properties)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, schema]) => {
      const note = sentence(notes[key] ?? key);
      const [line = "", ...more] = wrap(note, 110);
      const comment =
        more.length === 0
          ? `  /** ${line} */`
          : `  /**\n${wrap(note, 115)
              .map((one) => `   * ${one}`)
              .join("\n")}\n   */`;
      return `${comment}\n  readonly ${key}${required.includes(key) ? "" : "?"}: ${typeOf(schema)};`;
    })
    .join("\n");
}

/** A note as a sentence, without its links to documents. */
function sentence(note: string): string {
  const text = note.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function typeOf(schema: Schema): string {
  const { type, items, properties, required = [], additionalProperties } = schema;
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(" | ");
  if (Array.isArray(type)) return type.map((one: string) => typeOf({ type: one })).join(" | ");
  if (type === "array") return `readonly ${items?.enum || items?.anyOf ? `(${typeOf(items)})` : typeOf(items ?? {})}[]`;
  if (type === "object" && properties !== undefined)
    return `{ ${Object.entries(properties)
      .map(([key, part]) => `readonly ${key}${required.includes(key) ? "" : "?"}: ${typeOf(part)}`)
      .join("; ")} }`;
  if (type === "object")
    return `Readonly<Record<string, ${typeof additionalProperties === "object" ? typeOf(additionalProperties) : "unknown"}>>`;
  if (type === "integer" || type === "number") return "number";
  return type === "string" ? "string" : type === "boolean" ? "boolean" : "unknown";
}
