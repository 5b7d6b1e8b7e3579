import { parse, TomlDate, TomlError } from "smol-toml";

/** TOML as Bottlerocket's settings use it: smol-toml parses, renderToml renders. Comments are not kept. */

/** An integer is a bigint and a float a number: 1 and 1.0 are different settings. */
export type TomlValue = string | boolean | bigint | number | TomlDate | readonly TomlValue[] | TomlTable;

export interface TomlTable {
  [key: string]: TomlValue;
}

/**
 * Throws RangeError with the line number when the text is not TOML 1.0. The sentence quotes at most one bare word,
 * because userData may hold secrets.
 */
export function parseToml(text: string): TomlTable {
  try {
    return parse(text, { integersAsBigInt: true, useLegacyDate: true }) as TomlTable;
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new RangeError(`userData is not valid TOML: line ${error.line}: ${problemOf(error, text)}`);
  }
}

/** The library's message without the lines that it quotes, or a sentence that says what to write instead. */
function problemOf({ message, line, column }: TomlError, text: string): string {
  const said = (message.split("\n")[0] ?? "").replace(/^Invalid TOML document: /, "");
  const written = text.split(/\r?\n/)[line - 1] ?? "";
  const word = `${/[\w+.:-]*$/.exec(written.slice(0, column - 1))?.[0]}${/^[\w+.:-]*/.exec(written.slice(column - 1))?.[0]}`;
  if (/^(invalid value|illegal (character in numeric|leading zero|underscore))/.test(said))
    return word === "" ? "a value is missing" : `"${word}" is no value: put quotes around a text`;
  if (said.startsWith("trying to redefine") && word !== "") return `"${word}" is set twice`;
  return said === "illegal character in key" ? `${said}: a line is [table] or key = value` : said;
}

/** Whether a value is a table, and not a list or a date. */
export function isTable(value: TomlValue | undefined): value is TomlTable {
  return typeof value === "object" && !Array.isArray(value) && !(value instanceof TomlDate);
}

/**
 * Renders a document with one [table] header for each table that has values of its own. It does not use smol-toml's
 * stringify, which writes lists with blanks inside their brackets: a launch template is named by the hash of its
 * content.
 */
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
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : quoted(key);
}

/** JSON's escapes are TOML's. DEL must be escaped in TOML and JSON leaves it unescaped. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll("\u007f", "\\u007f");
}

function valueText(value: TomlValue): string {
  if (value instanceof TomlDate) return value.toISOString();
  if (typeof value === "number") return floatText(value);
  if (Array.isArray(value)) return `[${value.map(valueText).join(", ")}]`;
  if (isTable(value))
    return `{ ${Object.entries(value)
      .map(([key, field]) => `${keyText(key)} = ${valueText(field)}`)
      .join(", ")} }`;
  return typeof value === "string" ? quoted(value) : String(value);
}

function floatText(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  if (Object.is(value, -0)) return "-0.0";
  return Number.isInteger(value) && !String(value).includes("e") ? value.toFixed(1) : String(value);
}
