import { isJsonObject } from "./json.ts";

/**
 * What a JSON value must be. Gives the first place that differs, and what it should be; undefined when nothing does.
 * Fields that a shape does not name may hold anything.
 * @example
 * const point = fields({ x: number, y: number }, { name: string });
 * point({ x: 1 }, "from"); // "from.y is missing or is no number"
 */
export type Shape = (value: unknown, path: string) => string | undefined;

const kind =
  (what: string, is: (value: unknown) => boolean): Shape =>
  (value, path) =>
    is(value) ? undefined : `${path} is missing or is no ${what}`;

/** The furthest that a date can be from 1970, ms. */
const MAX_TIME_MS = 8.64e15;

export const string: Shape = kind("string", (value) => typeof value === "string");
/** A finite number: JSON.parse reads 1e999 as Infinity. */
export const number: Shape = kind("number", Number.isFinite);
/** Milliseconds since the epoch that a date can show. */
export const time: Shape = kind("time", (value) => typeof value === "number" && Math.abs(value) <= MAX_TIME_MS);

const list: Shape = kind("list", Array.isArray);
const object: Shape = kind("object", isJsonObject);

export function listOf(item: Shape): Shape {
  return (value, path) => {
    const problem = list(value, path);
    if (problem !== undefined) return problem;
    const items = value as readonly unknown[];
    for (let i = 0; i < items.length; i++) {
      const wrong = item(items[i], `${path}[${i}]`);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  };
}

/** An object that is used as a map, with any keys. */
export function mapOf(item: Shape): Shape {
  return (value, path) => {
    const problem = object(value, path);
    if (problem !== undefined) return problem;
    const map = value as Readonly<Record<string, unknown>>;
    for (const name of Object.keys(map)) {
      const wrong = item(map[name], `${path}.${name}`);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  };
}

/** An object with these fields; the optional ones may be absent. */
export function fields(required: Readonly<Record<string, Shape>>, optional: Readonly<Record<string, Shape>> = {}): Shape {
  const needed = Object.entries(required);
  const others = Object.entries(optional);
  return (value, path) => {
    const problem = object(value, path);
    if (problem !== undefined) return problem;
    const prefix = path === "" ? "" : `${path}.`;
    // "__proto__" is a key of what JSON.parse reads, and changes no object that it makes.
    const map = value as Readonly<Record<string, unknown>>;
    for (const [name, shape] of needed) {
      const wrong = shape(map[name], prefix + name);
      if (wrong !== undefined) return wrong;
    }
    for (const [name, shape] of others) {
      const wrong = map[name] === undefined ? undefined : shape(map[name], prefix + name);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  };
}
