/**
 * A TOML document as plain values, as far as Bottlerocket settings use TOML: tables, dotted and quoted keys, strings,
 * numbers, booleans, arrays.
 */
export type Toml = { [key: string]: string | number | boolean | TomlArray | Toml };
type TomlArray = (string | number | boolean | TomlArray | Toml)[];

/** Reads TOML. Throws Error with a sentence that names the line. */
export function parseToml(text: string): Toml {
  const root: Toml = {};
  let table = root;
  const lines = text.split(/\r?\n/);
  for (let i = 0; i < lines.length; i++) {
    const line = (lines[i] ?? "").trim();
    if (line === "" || line.startsWith("#")) continue;
    const fail = (what: string): never => {
      throw new Error(`line ${i + 1} of the TOML settings: ${what}`);
    };
    const header = /^\[([^[\]]+)\]\s*(#.*)?$/.exec(line);
    if (header?.[1] !== undefined) {
      table = descend(root, keys(header[1]), fail);
      continue;
    }
    const [path, rest] = splitAssignment(line) ?? fail(`"${line}" is neither a table nor key = value`);
    let source = rest;
    // An array may span lines until its brackets are closed.
    while (source.startsWith("[") && !closed(source) && i + 1 < lines.length) source += `\n${lines[++i] ?? ""}`;
    const names = keys(path);
    const last = names.pop() ?? fail("a key is missing");
    const { value } = readValue(source, 0, fail);
    descend(table, names, fail)[last] = value;
  }
  return root;
}

type Fail = (what: string) => never;

function descend(from: Toml, path: readonly string[], fail: Fail): Toml {
  let table = from;
  for (const name of path) {
    // Not ??=, which finds what every object has under "__proto__".
    if (!Object.hasOwn(table, name)) table[name] = {};
    const next = table[name];
    if (typeof next !== "object" || Array.isArray(next)) return fail(`"${name}" is a value already, not a table`);
    table = next;
  }
  return table;
}

function splitAssignment(line: string): readonly [string, string] | undefined {
  let quote = "";
  for (let i = 0; i < line.length; i++) {
    const c = line[i] ?? "";
    if (quote) quote = c === quote ? "" : quote;
    else if (c === '"' || c === "'") quote = c;
    else if (c === "=") return [line.slice(0, i).trim(), line.slice(i + 1).trim()];
  }
  return undefined;
}

const keys = (path: string): string[] => [...path.matchAll(/"([^"]*)"|'([^']*)'|([\w-]+)/g)].map((m) => m[1] ?? m[2] ?? m[3] ?? "");

function closed(source: string): boolean {
  const bare = source.replaceAll(/"(?:[^"\\]|\\.)*"|'[^']*'/g, "");
  return bare.split("[").length === bare.split("]").length;
}

function readValue(text: string, from: number, fail: Fail): { readonly value: Toml[string]; readonly end: number } {
  const at = skip(text, from);
  const rest = text.slice(at);
  const string = /^"((?:[^"\\]|\\.)*)"/.exec(rest) ?? /^'([^']*)'/.exec(rest);
  if (string?.[1] !== undefined) {
    const value = rest.startsWith('"') ? (JSON.parse(`"${string[1]}"`) as string) : string[1];
    return { value, end: at + string[0].length };
  }
  if (rest.startsWith("[")) {
    const items: TomlArray = [];
    let next = skip(text, at + 1);
    while (text[next] !== "]") {
      if (next >= text.length) return fail("an array is not closed");
      const item = readValue(text, next, fail);
      items.push(item.value);
      next = skip(text, item.end);
      if (text[next] === ",") next = skip(text, next + 1);
    }
    return { value: items, end: next + 1 };
  }
  const word = /^[^\s,\]#]+/.exec(rest)?.[0] ?? fail("a value is missing");
  if (word === "true" || word === "false") return { value: word === "true", end: at + word.length };
  const number = Number(word.replaceAll("_", ""));
  return Number.isNaN(number) ? fail(`"${word}" is no value; put text in quotes`) : { value: number, end: at + word.length };
}

function skip(text: string, from: number): number {
  return from + (/^(?:\s|#[^\n]*\n)*/.exec(text.slice(from))?.[0].length ?? 0);
}
