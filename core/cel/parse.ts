import { CelError, type Token, tokensOf } from "./tokens.ts";

/** An expression as it is written; an operator is a call of a function like "_+_". */
export type Node =
  | {
      readonly kind: "literal";
      readonly type: "int" | "uint" | "double" | "string" | "bool" | "null";
      readonly value: bigint | number | string | boolean | null;
    }
  | { readonly kind: "ident"; readonly name: string }
  | { readonly kind: "select"; readonly operand: Node; readonly field: string }
  | { readonly kind: "call"; readonly name: string; readonly target?: Node; readonly args: readonly Node[] }
  | { readonly kind: "list"; readonly items: readonly Node[] }
  | { readonly kind: "map"; readonly entries: readonly (readonly [Node, Node])[] };

/** Words that CEL keeps for itself. */
const RESERVED: ReadonlySet<string> = new Set([
  ...["as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop"],
  ...["namespace", "null", "package", "return", "true", "var", "void", "while"],
]);
/** Binary operators that bind alike, the loosest first. */
const LEVELS: readonly (readonly string[])[] = [["||"], ["&&"], ["<", "<=", ">=", ">", "==", "!=", "in"], ["+", "-"], ["*", "/", "%"]];
/** Of brackets, conditions and calls within each other. */
const MAX_DEPTH = 100;
const MAX_INT = 2n ** 63n - 1n;
const MAX_UINT = 2n ** 64n - 1n;

/** Throws CelError, as for a text that is no expression. */
export function parse(text: string): Node {
  const reader = new Reader(tokensOf(text));
  const node = reader.expression();
  reader.expectEnd();
  return node;
}

class Reader {
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  expectEnd(): void {
    if (this.#token().kind !== "end") throw this.#unexpected();
  }

  /** or ('?' or ':' expression)? */
  expression(): Node {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw new CelError(`it is nested more than ${MAX_DEPTH} deep`);
    const condition = this.#binary(0);
    let node = condition;
    if (this.#take("?")) {
      const yes = this.#binary(0);
      this.#expect(":");
      node = { kind: "call", name: "_?_:_", args: [condition, yes, this.expression()] };
    }
    this.#depth -= 1;
    return node;
  }

  #binary(level: number): Node {
    const operators = LEVELS[level];
    if (operators === undefined) return this.#unary();
    let left = this.#binary(level + 1);
    for (let operator = this.#takeAny(operators); operator !== undefined; operator = this.#takeAny(operators)) {
      left = { kind: "call", name: operator === "in" ? "_in_" : `_${operator}_`, args: [left, this.#binary(level + 1)] };
    }
    return left;
  }

  /** A minus before a number belongs to it; of several equal signs an even number does nothing. */
  #unary(): Node {
    const sign = this.#takeAny(["!", "-"]);
    if (sign === undefined) return this.#member(this.#primary());
    let count = 1;
    while (this.#take(sign)) count += 1;
    const { kind } = this.#token();
    if (sign === "-" && count === 1 && (kind === "int" || kind === "double")) return this.#member(this.#literal("-"));
    const operand = this.#member(this.#primary());
    return count % 2 === 0 ? operand : { kind: "call", name: `${sign}_`, args: [operand] };
  }

  #member(first: Node): Node {
    let node = first;
    for (;;) {
      if (this.#take(".")) {
        const name = this.#identifier();
        node = this.#take("(")
          ? { kind: "call", name, target: node, args: this.#list(")") }
          : { kind: "select", operand: node, field: name };
      } else if (this.#take("[")) {
        node = { kind: "call", name: "_[_]", args: [node, this.expression()] };
        this.#expect("]");
      } else return node;
    }
  }

  #primary(): Node {
    const { kind, text } = this.#token();
    if (kind === "int" || kind === "uint" || kind === "double" || kind === "string") return this.#literal("");
    if (this.#take("(")) {
      const node = this.expression();
      this.#expect(")");
      return node;
    }
    if (this.#take("[")) return { kind: "list", items: this.#list("]", true) };
    if (this.#take("{")) return { kind: "map", entries: this.#entries() };
    if (kind === "ident" && (text === "true" || text === "false" || text === "null")) {
      this.#next += 1;
      return text === "null" ? { kind: "literal", type: "null", value: null } : { kind: "literal", type: "bool", value: text === "true" };
    }
    this.#take(".");
    const name = this.#identifier();
    return this.#take("(") ? { kind: "call", name, args: this.#list(")") } : { kind: "ident", name };
  }

  #literal(sign: "" | "-"): Node {
    const { kind, text } = this.#token();
    this.#next += 1;
    if (kind === "string") return { kind: "literal", type: "string", value: text };
    if (kind === "double") {
      const value = Number(sign + text);
      if (!Number.isFinite(value)) throw new CelError(`${sign}${text} is too large for a double`);
      return { kind: "literal", type: "double", value };
    }
    const value = sign === "-" ? -BigInt(text) : BigInt(text);
    if (kind === "uint") return { kind: "literal", type: "uint", value: within(value, 0n, MAX_UINT) };
    return { kind: "literal", type: "int", value: within(value, -MAX_INT - 1n, MAX_INT) };
  }

  #list(end: string, takesLastComma = false): readonly Node[] {
    const items: Node[] = [];
    while (!this.#take(end)) {
      if (items.length > 0) {
        this.#expect(",");
        if (takesLastComma && this.#take(end)) break;
      }
      items.push(this.expression());
    }
    return items;
  }

  #entries(): readonly (readonly [Node, Node])[] {
    const entries: (readonly [Node, Node])[] = [];
    while (!this.#take("}")) {
      if (entries.length > 0) {
        this.#expect(",");
        if (this.#take("}")) break;
      }
      const key = this.expression();
      this.#expect(":");
      entries.push([key, this.expression()]);
    }
    return entries;
  }

  #identifier(): string {
    const { kind, text } = this.#token();
    if (kind !== "ident" || RESERVED.has(text)) throw this.#unexpected();
    this.#next += 1;
    return text;
  }

  #token(): Token {
    return this.#tokens[Math.min(this.#next, this.#tokens.length - 1)] as Token;
  }

  #take(text: string): boolean {
    return this.#takeAny([text]) !== undefined;
  }

  #takeAny(texts: readonly string[]): string | undefined {
    const { kind, text } = this.#token();
    const isSign = kind === "sign" || (kind === "ident" && text === "in");
    if (!isSign || !texts.includes(text)) return undefined;
    this.#next += 1;
    return text;
  }

  #expect(text: string): void {
    if (!this.#take(text)) throw this.#unexpected();
  }

  #unexpected(): CelError {
    const { kind, text, at } = this.#token();
    return new CelError(kind === "end" ? "it ends too early" : `"${text.slice(0, 20)}" at character ${at + 1} is not expected there`);
  }
}

function within(value: bigint, least: bigint, most: bigint): bigint {
  if (value < least || value > most) throw new CelError(`${value} has more than 64 bits`);
  return value;
}
