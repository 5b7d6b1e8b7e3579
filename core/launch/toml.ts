/** TOML as Bottlerocket's settings use it: parse a user's document, merge, render. Comments are not kept. */

/** A number or a date, kept as written. */
export class Literal {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type TomlValue = string | boolean | Literal | readonly TomlValue[] | TomlTable;

export interface TomlTable {
  [key: string]: TomlValue;
}

/** Throws RangeError with the line number when the text is not TOML. */
export function parseToml(text: string): TomlTable {
  return new Parser(text.replaceAll("\r\n", "\n")).document();
}

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): TomlTable {
    const root: TomlTable = {};
    let table = root;
    for (this.#blank(); this.#at < this.#text.length; this.#blank()) {
      if (this.#eat("[[")) table = this.#arrayTable(root);
      else if (this.#eat("[")) {
        const path = this.#path();
        this.#expect("]");
        table = this.#descend(root, path);
      } else this.#assignment(table);
      this.#lineEnd();
    }
    return root;
  }

  #arrayTable(root: TomlTable): TomlTable {
    const path = this.#path();
    this.#expect("]]");
    const key = path.at(-1) ?? "";
    const parent = this.#descend(root, path.slice(0, -1));
    const list = parent[key] ?? [];
    if (!Array.isArray(list)) throw this.#error(`"${path.join(".")}" is already something else than a list of tables`);
    const table: TomlTable = {};
    parent[key] = [...list, table];
    return table;
  }

  #assignment(table: TomlTable): void {
    const path = this.#path();
    this.#expect("=");
    const parent = this.#descend(table, path.slice(0, -1));
    const key = path.at(-1) ?? "";
    if (Object.hasOwn(parent, key)) throw this.#error(`"${path.join(".")}" is set twice`);
    parent[key] = this.#value();
  }

  #descend(from: TomlTable, path: readonly string[]): TomlTable {
    let table = from;
    for (const key of path) {
      if (key === "__proto__") throw this.#error(`"${key}" is not a key`);
      const present = Object.hasOwn(table, key) ? table[key] : undefined;
      const next: TomlValue = Array.isArray(present) ? (present.at(-1) as TomlValue) : (present ?? {});
      if (!isTable(next)) throw this.#error(`"${path.join(".")}" is already a value, so it cannot be a table`);
      if (present === undefined) table[key] = next;
      table = next;
    }
    return table;
  }

  #path(): readonly string[] {
    const keys: string[] = [];
    do {
      this.#space();
      keys.push(this.#key());
      this.#space();
    } while (this.#eat("."));
    return keys;
  }

  #key(): string {
    if (this.#text[this.#at] === '"' || this.#text[this.#at] === "'") return this.#string();
    const bare = this.#match(/[A-Za-z0-9_-]+/y);
    if (bare === undefined) throw this.#error("a key is missing");
    return bare;
  }

  #value(): TomlValue {
    this.#space();
    const next = this.#text[this.#at];
    if (next === '"' || next === "'") return this.#string();
    if (this.#eat("[")) return this.#list();
    if (this.#eat("{")) return this.#inlineTable();
    const word = this.#match(/[A-Za-z0-9+\-._:]+/y);
    if (word === undefined) throw this.#error("a value is missing");
    if (word === "true" || word === "false") return word === "true";
    if (!/^[+-]?(\d|inf$|nan$)/.test(word)) throw this.#error(`"${word}" is no value: put quotes around a text`);
    return new Literal(word);
  }

  #list(): readonly TomlValue[] {
    const items: TomlValue[] = [];
    for (this.#blank(); !this.#eat("]"); this.#blank()) {
      items.push(this.#value());
      this.#blank();
      if (!this.#eat(",") && this.#text[this.#at] !== "]") throw this.#error('a "," or "]" is missing');
    }
    return items;
  }

  #inlineTable(): TomlTable {
    const table: TomlTable = {};
    this.#space();
    if (this.#eat("}")) return table;
    do {
      this.#assignment(table);
      this.#space();
    } while (this.#eat(","));
    this.#expect("}");
    return table;
  }

  #string(): string {
    for (const fence of ['"""', "'''"]) {
      if (!this.#eat(fence)) continue;
      const end = this.#text.indexOf(fence, this.#at);
      if (end < 0) throw this.#error(`${fence} is not closed`);
      const raw = this.#text.slice(this.#at, end).replace(/^\n/, "");
      this.#at = end + 3;
      return fence === '"""' ? this.#unescape(raw.replace(/\\\n\s*/g, "")) : raw;
    }
    const basic = this.#match(/"(?:[^"\\\n]|\\.)*"/y);
    if (basic !== undefined) return this.#unescape(basic.slice(1, -1));
    const literal = this.#match(/'[^'\n]*'/y);
    if (literal === undefined) throw this.#error("a quote is not closed");
    return literal.slice(1, -1);
  }

  #unescape(raw: string): string {
    const short: Readonly<Record<string, string>> = { b: "\b", t: "\t", n: "\n", f: "\f", r: "\r", '"': '"', "\\": "\\" };
    return raw.replace(/\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)/gs, (_, sequence: string) => {
      if (sequence.length > 1) return String.fromCodePoint(Number.parseInt(sequence.slice(1), 16));
      const character = short[sequence];
      if (character === undefined) throw this.#error(`"\\${sequence}" is no escape`);
      return character;
    });
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #eat(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #expect(text: string): void {
    this.#space();
    if (!this.#eat(text)) throw this.#error(`"${text}" is missing`);
  }

  #space(): void {
    this.#match(/[ \t]*/y);
  }

  /** Skips space, line ends and comments. */
  #blank(): void {
    this.#match(/(?:[ \t\n]|#[^\n]*)*/y);
  }

  #lineEnd(): void {
    this.#match(/[ \t]*(?:#[^\n]*)?/y);
    if (this.#at < this.#text.length && !this.#eat("\n")) throw this.#error("the line goes on after its value");
  }

  #error(what: string): RangeError {
    return new RangeError(`userData is not valid TOML: line ${this.#text.slice(0, this.#at).split("\n").length}: ${what}`);
  }
}

/** Whether a value is a table, and neither a list nor a scalar. */
export function isTable(value: TomlValue | undefined): value is TomlTable {
  return typeof value === "object" && !Array.isArray(value) && !(value instanceof Literal);
}

/** Renders a document with one [table] header for each table that has values of its own. */
export function renderToml(root: TomlTable): string {
  const lines: string[] = [];
  section(root, [], lines);
  return `${lines.join("\n").trim()}\n`;
}

function section(table: TomlTable, path: readonly string[], lines: string[]): void {
  const fields = Object.entries(table);
  const values = fields.filter(([, value]) => !isTable(value));
  if (path.length > 0 && (values.length > 0 || fields.length === 0)) lines.push("", `[${path.map(keyText).join(".")}]`);
  for (const [key, value] of values) lines.push(`${keyText(key)} = ${valueText(value)}`);
  for (const [key, value] of fields) if (isTable(value)) section(value, [...path, key], lines);
}

function keyText(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key);
}

function valueText(value: TomlValue): string {
  if (value instanceof Literal) return value.text;
  if (Array.isArray(value)) return `[${value.map(valueText).join(", ")}]`;
  if (isTable(value))
    return `{ ${Object.entries(value)
      .map(([key, field]) => `${keyText(key)} = ${valueText(field)}`)
      .join(", ")} }`;
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}
