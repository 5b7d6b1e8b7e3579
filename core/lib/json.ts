// core/lib: small functions without any notion of Kubernetes or of the cloud: JSON, hashes, durations, cron, text.
// Plain values come in, plain values go out. Nothing of core/model or any other room must be known here.

/** A JSON value whose shape is not known yet: a field of a manifest in any version of its API. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [name: string]: Json;
}

export type Path = readonly (string | number)[];

/** Whether a value is a JSON object: neither null nor a list. */
export const isJsonObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);

/** The value at a path; undefined when it is absent or null, because the API counts null as absent. */
export function getAt(value: Json | undefined, path: Path): Json | undefined {
  let found: Json | undefined = value;
  for (const step of path) {
    if (typeof found !== "object" || found === null) return undefined;
    found = Object.hasOwn(found, step) ? (found as Readonly<Record<string | number, Json>>)[step] : undefined;
  }
  return found ?? undefined;
}

/** The map at a path; an empty map when the path holds no map. */
export function mapAt(value: Json | undefined, path: Path): JsonObject {
  const found = getAt(value, path);
  return isJsonObject(found) ? found : {};
}

/** The list at a path; an empty list when the path holds no list. */
export function listAt(value: Json | undefined, path: Path): readonly Json[] {
  const found = getAt(value, path);
  return Array.isArray(found) ? found : [];
}

export function textAt(value: Json | undefined, path: Path): string | undefined {
  const found = getAt(value, path);
  return typeof found === "string" ? found : undefined;
}

/**
 * A copy that holds `item` at the path; undefined removes the value there. Missing maps on the way are created; a
 * scalar on the way is replaced by a map. Fields keep their order.
 */
export function setAt(value: JsonObject, path: Path, item: Json | undefined): JsonObject;
export function setAt(value: Json | undefined, path: Path, item: Json | undefined): Json;
export function setAt(value: Json | undefined, path: Path, item: Json | undefined): Json {
  const [step, ...rest] = path;
  if (step === undefined) return item ?? null;
  if (item === undefined && getAt(value, path.slice(0, -1)) === undefined) return value ?? {};
  if (Array.isArray(value) && typeof step === "number") {
    if (rest.length === 0 && item === undefined) return value.filter((_, i) => i !== step);
    return value.map((one, i) => (i === step ? setAt(one, rest, item) : one));
  }
  const map = isJsonObject(value) ? value : {};
  if (rest.length === 0 && item === undefined) return Object.fromEntries(Object.entries(map).filter(([name]) => name !== String(step)));
  return { ...map, [step]: setAt(map[step], rest, item) };
}

/**
 * Whether two JSON values are equal. The order of a map's fields does not count, and undefined fields count as absent.
 */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((one, i) => equalJson(one, b[i]));
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  for (const name of Object.keys(a)) if (a[name] !== undefined && !(Object.hasOwn(b, name) && equalJson(a[name], b[name]))) return false;
  for (const name of Object.keys(b)) if (b[name] !== undefined && !(Object.hasOwn(a, name) && a[name] !== undefined)) return false;
  return true;
}

/** Parses JSON from outside; undefined when the text is not JSON. */
export function parseJson(text: string | undefined): Json | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
