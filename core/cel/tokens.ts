// core/cel: the Common Expression Language over a few typed variables: numbers, strings, booleans, lists and maps; no
// messages, times, bytes or dynamic types. A text comes in, a checked expression goes out, which evaluates itself. What
// the variables mean must not be known here.

/** Why an expression cannot be read, or has no value. */
export class CelError extends Error {}

/** A word, sign or literal. `at` is its offset in the text. */
export interface Token {
  readonly kind: "int" | "uint" | "double" | "string" | "ident" | "sign" | "end";
  /** The literal's digits, the string's content, the word or the sign. */
  readonly text: string;
  readonly at: number;
}

const SPACE = /(?:[\t\n\f\r ]|\/\/[^\n]*)+/y;
const NUMBER = /(?:(\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)|(0x[0-9a-fA-F]+|\d+)([uU]?))/y;
const STRING = /()("""(?:[^\\]|\\[\s\S])*?"""|'''(?:[^\\]|\\[\s\S])*?'''|"(?:[^\\"\n\r]|\\[^\n\r])*"|'(?:[^\\'\n\r]|\\[^\n\r])*')/y;
const RAW = /([rR])("""[\s\S]*?"""|'''[\s\S]*?'''|"[^"\n\r]*"|'[^'\n\r]*')/y;
const IDENT = /[_a-zA-Z][_a-zA-Z0-9]*/y;
const SIGN = /==|!=|<=|>=|&&|\|\||[-+*/%!<>?:.,()[\]{}]/y;

/** The tokens of a text, the last of kind "end". Throws CelError. */
export function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(text);
  };
  while (at < text.length) {
    const space = take(SPACE);
    if (space) at += space[0].length;
    if (at >= text.length) break;
    const found = tokenAt(take, at);
    if (found === undefined) throw new CelError(`"${text.slice(at, at + 10)}" at character ${at + 1} cannot be read`);
    tokens.push(found.token);
    at += found.length;
  }
  return [...tokens, { kind: "end", text: "", at: text.length }];
}

interface Found {
  readonly token: Token;
  readonly length: number;
}

function tokenAt(take: (pattern: RegExp) => RegExpExecArray | null, at: number): Found | undefined {
  const number = take(NUMBER);
  if (number) {
    const [whole, double, integer = "", unsigned] = number;
    const kind = double === undefined ? (unsigned ? "uint" : "int") : "double";
    return { token: { kind, text: double ?? integer, at }, length: whole.length };
  }
  const quoted = take(RAW) ?? take(STRING);
  if (quoted) {
    const [whole, raw, body = ""] = quoted;
    const marks = /^("""|''')/.test(body) ? 3 : 1;
    const content = body.slice(marks, -marks);
    return { token: { kind: "string", text: raw ? content : unescaped(content), at }, length: whole.length };
  }
  const ident = take(IDENT);
  if (ident) return { token: { kind: "ident", text: ident[0], at }, length: ident[0].length };
  const sign = take(SIGN);
  return sign ? { token: { kind: "sign", text: sign[0], at }, length: sign[0].length } : undefined;
}

const ESCAPE = /\\(?:([abfnrtv\\'"`?])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|([\s\S]))/g;
const LETTERS: Readonly<Record<string, string>> = { a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };

function unescaped(content: string): string {
  return content.replace(ESCAPE, (whole, letter?: string, byte?: string, four?: string, eight?: string, octal?: string) => {
    if (letter !== undefined) return LETTERS[letter] ?? letter;
    const code = octal === undefined ? Number.parseInt(byte ?? four ?? eight ?? "", 16) : Number.parseInt(octal, 8);
    if (!(code <= 0x10ffff) || (code >= 0xd800 && code <= 0xdfff)) throw new CelError(`${whole} is no character`);
    return String.fromCodePoint(code);
  });
}
