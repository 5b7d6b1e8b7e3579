/** A type of CEL; "any" is what an empty list or map holds. */
export type Type =
  | "int"
  | "uint"
  | "double"
  | "string"
  | "bool"
  | "null"
  | "any"
  | { readonly list: Type }
  | { readonly map: readonly [key: Type, value: Type] };

/** int and uint are bigint, double is number; a map has its entries in order. */
export type Value = bigint | number | string | boolean | null | readonly Value[] | ReadonlyMap<Value, Value>;

/** The values of names, and how many items macros may still look at. */
export interface Env {
  readonly values: ReadonlyMap<string, Value>;
  readonly steps: { left: number };
}

export interface Compiled {
  readonly type: Type;
  /** Throws CelError, and RangeError when it takes too long. */
  readonly run: (env: Env) => Value;
}

export type Scope = ReadonlyMap<string, Type>;

export function typeName(type: Type): string {
  if (typeof type === "string") return type;
  return "list" in type ? `list(${typeName(type.list)})` : `map(${typeName(type.map[0])}, ${typeName(type.map[1])})`;
}

/** The type that holds values of both; undefined when there is none. */
export function unified(a: Type, b: Type): Type | undefined {
  if (a === "any") return b;
  if (b === "any" || a === b) return a;
  if (typeof a === "string" || typeof b === "string") return undefined;
  if ("list" in a) {
    const item = "list" in b ? unified(a.list, b.list) : undefined;
    return item && { list: item };
  }
  if (!("map" in b)) return undefined;
  const [key, value] = [unified(a.map[0], b.map[0]), unified(a.map[1], b.map[1])];
  return key && value && { map: [key, value] };
}

export function equal(a: Value, b: Value): boolean {
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item: Value, i) => equal(item, b[i] as Value));
  if (a instanceof Map) {
    return (
      b instanceof Map && a.size === b.size && [...a].every(([key, value]) => b.has(key) && equal(value as Value, b.get(key) as Value))
    );
  }
  return a === b;
}
