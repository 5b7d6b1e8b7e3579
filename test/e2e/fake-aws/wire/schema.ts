/**
 * The shapes of the query protocols, from the schemas of the AWS SDK. These are the service models, so every field is
 * read and written under its wire name, even fields that no code of the fake mentions.
 */
import { NormalizedSchema } from "@smithy/core/schema";

/** An operation's schema as the SDK exports it (`CreateFleet$`): input at 4, output at 5. */
export type OperationSchema = readonly [9, ...unknown[]];

type SchemaRef = Parameters<typeof NormalizedSchema.of>[0];

/** What differs between ec2Query (flat lists, capital keys) and awsQuery (`List.member.1`). */
export type QueryDialect = "ec2" | "aws";

type Tree = { [key: string]: string | Tree };

export const inputOf = (operation: OperationSchema): NormalizedSchema => NormalizedSchema.of(operation[4] as SchemaRef);
export const outputOf = (operation: OperationSchema): NormalizedSchema => NormalizedSchema.of(operation[5] as SchemaRef);

/**
 * Decodes request parameters (`A.1.B=c`) to the object that the SDK's caller wrote, with lists, numbers, booleans and
 * dates.
 */
export function decodeQuery(form: URLSearchParams, schema: NormalizedSchema, dialect: QueryDialect): Record<string, unknown> {
  const tree: Tree = {};
  for (const [key, value] of form) {
    let at = tree;
    const path = key.split(".");
    for (const step of path.slice(0, -1)) {
      const next = at[step];
      if (typeof next === "object") at = next;
      else {
        const made: Tree = {};
        at[step] = made;
        at = made;
      }
    }
    at[path.at(-1) ?? key] = value;
  }
  return (decode(tree, schema, dialect) ?? {}) as Record<string, unknown>;
}

function decode(value: string | Tree, schema: NormalizedSchema, dialect: QueryDialect): unknown {
  if (typeof value === "string") return decodeScalar(value, schema);
  if (schema.isListSchema()) {
    const member = schema.getValueSchema();
    const listName = member.getMergedTraits().xmlName ?? "member";
    const nested = dialect === "aws" && !schema.getMergedTraits().xmlFlattened ? value[listName] : value;
    if (typeof nested !== "object") return [];
    const indices = Object.keys(nested).sort((a, b) => Number(a) - Number(b));
    return indices.map((i) => decode(nested[i] ?? "", member, dialect));
  }
  if (!schema.isStructSchema()) return undefined;
  const out: Record<string, unknown> = {};
  for (const [name, member] of schema.structIterator()) {
    const traits = member.getMergedTraits() as { readonly xmlName?: string; readonly ec2QueryName?: string };
    const plain = traits.xmlName ?? name;
    const key = dialect === "ec2" ? (traits.ec2QueryName ?? plain.charAt(0).toUpperCase() + plain.slice(1)) : plain;
    const found = value[key];
    if (found !== undefined) out[name] = decode(found, member, dialect);
  }
  return out;
}

function decodeScalar(value: string, schema: NormalizedSchema): unknown {
  if (schema.isBooleanSchema()) return value === "true";
  if (schema.isNumericSchema()) return Number(value);
  if (schema.isTimestampSchema()) return new Date(value);
  if (schema.isListSchema()) return [];
  return value;
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
// biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 cannot contain control characters
const UNSAFE = /[&<>"]|[\u0000-\u0008\u000b-\u001f]/g;
export const escapeXml = (text: string): string => text.replace(UNSAFE, (c) => ESCAPES[c] ?? `&#x${c.charCodeAt(0).toString(16)};`);

type Member = { readonly name: string; readonly member: NormalizedSchema; readonly element: string };
const known = new WeakMap<object, readonly Member[]>();

/** The members of a structure; cached, because computing the traits costs far more than writing the text. */
function membersOf(schema: NormalizedSchema): readonly Member[] {
  const key = schema.getSchema() as object;
  const found = known.get(key);
  if (found) return found;
  const members = [...schema.structIterator()].map(([name, member]) => ({
    name,
    member,
    element: (member.getMemberTraits() as { readonly xmlName?: string }).xmlName ?? name,
  }));
  known.set(key, members);
  return members;
}

/** The members of a structure as XML elements, in the order of the schema. Absent members have no element. */
export function encodeXml(value: unknown, schema: NormalizedSchema): string {
  if (value === undefined || value === null) return "";
  if (schema.isListSchema()) {
    const member = schema.getValueSchema();
    const name = member.getMergedTraits().xmlName ?? "member";
    let out = "";
    for (const item of value as readonly unknown[]) out += `<${name}>${encodeXml(item, member)}</${name}>`;
    return out;
  }
  if (schema.isStructSchema()) {
    let out = "";
    for (const { name, member, element } of membersOf(schema)) {
      const found = (value as Readonly<Record<string, unknown>>)[name];
      if (found === undefined || found === null) continue;
      out += `<${element}>${encodeXml(found, member)}</${element}>`;
    }
    return out;
  }
  if (value instanceof Date) return value.toISOString();
  return escapeXml(String(value));
}
