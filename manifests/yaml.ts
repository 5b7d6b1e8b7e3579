import type { Document } from "yaml";

/** Brackets within brackets; the parser's time grows with the square of their number. No manifest has a tenth. */
const MAX_BRACKETS = 2_000;
/** Fields within fields. An object of Kubernetes has about 30; a recursive walk of an object takes some thousands. */
const MAX_DEPTH = 500;
/** Copies that aliases may make of what they refer to. */
const MAX_ALIAS_COUNT = 10_000;

/** Why a text is not parsed, and where. */
interface TextProblem {
  readonly problem: string;
  /** Offset in the text. */
  readonly at: number;
}

/** Where a text nests deeper than a parser should be asked to follow; undefined for any manifest. */
export function textProblem(text: string): TextProblem | undefined {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x5b || code === 0x7b) {
      if (++depth > MAX_BRACKETS) return { problem: `it opens more than ${MAX_BRACKETS} brackets that it does not close`, at: i };
    } else if ((code === 0x5d || code === 0x7d) && depth > 0) depth--;
  }
  return undefined;
}

/**
 * The value of a document that has no errors, or why it has none: its aliases make too many copies or contain
 * themselves, or it is nested too deeply. A value can be walked recursively and has no circles. Never throws.
 */
export function documentValue(document: Document | Document.Parsed): { readonly value: unknown } | { readonly problem: string } {
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: MAX_ALIAS_COUNT });
  } catch (error) {
    // The parser follows aliases and merges only here.
    if (error instanceof RangeError) return { problem: `${TOO_DEEP} or an alias (*name) refers to itself; write the fields out` };
    const [why = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    return { problem: /alias count/.test(why) ? "its aliases (*name) make too many copies; write the values out" : why };
  }
  return isDeep(value) ? { problem: `${TOO_DEEP} or an alias (*name) refers to itself; write the fields out` } : { value };
}

const TOO_DEEP = `it nests fields more than ${MAX_DEPTH} deep,`;

/** Whether a value nests deeper than any object of Kubernetes; so does a value that contains itself. */
export function isDeep(value: unknown): boolean {
  const left: (readonly [value: object, depth: number])[] = [];
  const look = (one: unknown, depth: number): void => {
    if (typeof one === "object" && one !== null) left.push([one, depth]);
  };
  look(value, 1);
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [one, depth] = next;
    if (depth > MAX_DEPTH) return true;
    for (const field of Object.values(one)) look(field, depth + 1);
  }
  return false;
}

/** The API server treats a null field as an absent one, and so do we. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([name, one]) => (one === null ? [] : [[name, withoutNulls(one)]])));
}
