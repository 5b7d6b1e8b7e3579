import type { Json, JsonObject } from "#core/lib/json.ts";
import { isJsonObject } from "#core/lib/json.ts";

/**
 * Variants of a full object that an API server admits, or nearly: for each of its places a copy without it, and one
 * with each of the values that the place's type has at its edges. The API server fills little in and leaves out what is
 * empty, so that a reader may rely on no place; Go writes null for a list without items.
 */
export function variantsOf(full: JsonObject): readonly { readonly what: string; readonly object: JsonObject }[] {
  return (
    placesOf(full)
      .filter(({ path }) => !REQUIRED.test(path.join(".")))
      .flatMap(({ path, value }) => [undefined, ...edgesOf(value)].map((edge) => ({ path, edge })))
      // An item of a list has the fields that it must have.
      .filter(({ path, edge }) => !(typeof path.at(-1) === "number" && isJsonObject(edge)))
      .map(({ path, edge }, i) => {
        const { metadata, ...rest } = withValue(full, path, edge) as { readonly metadata: JsonObject };
        const named = { ...metadata, name: `${String(metadata["name"])}-${i}`, ...(metadata["uid"] && { uid: `u-${i}` }) };
        const what = `${path.join(".")}: ${edge === undefined ? "absent" : JSON.stringify(edge).slice(0, 40)}`;
        return { what, object: { ...rest, metadata: named } as JsonObject };
      })
  );
}

/** Places that Go's types always have: names, keys, kinds, and structs that are no pointers. */
const REQUIRED =
  /^(metadata|metadata\.name|metadata\.uid|spec|spec\.template|spec\.template\.spec)$|(^|\.)(key|preference|podAffinityTerm|nodeClassRef|kind|volumeClaimTemplate\.spec)$/;

interface Place {
  readonly path: readonly (string | number)[];
  readonly value: Json;
}

function placesOf(value: Json, path: readonly (string | number)[] = []): readonly Place[] {
  const items: readonly (readonly [string | number, Json])[] = Array.isArray(value)
    ? (value as readonly Json[]).map((item, i) => [i, item] as const)
    : isJsonObject(value)
      ? Object.entries(value).filter((entry): entry is [string, Json] => entry[1] !== undefined)
      : [];
  return items.flatMap(([key, item]) => [{ path: [...path, key], value: item }, ...placesOf(item, [...path, key])]);
}

const TIME = /^\d{4}-\d\d-\d\dT/;

/** Values of the same type: none, the least and the most. */
function edgesOf(value: Json): readonly Json[] {
  if (Array.isArray(value)) return [[], null];
  if (isJsonObject(value)) return [{}, null];
  if (typeof value === "number") return [0, -(2 ** 31), 2 ** 31 - 1, Number.MAX_SAFE_INTEGER];
  if (typeof value === "boolean") return [!value];
  if (typeof value !== "string") return [];
  if (TIME.test(value)) return [null, "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"];
  return ["", "constructor", "1e1.5", "x".repeat(10_000)];
}

function withValue(value: Json, [key, ...rest]: readonly (string | number)[], edge: Json | undefined): Json {
  if (key === undefined) return value;
  if (Array.isArray(value)) {
    const items = value as readonly Json[];
    if (rest.length === 0 && edge === undefined) return items.filter((_, i) => i !== key);
    return items.map((item, i) => (i !== key ? item : rest.length === 0 ? (edge ?? null) : withValue(item, rest, edge)));
  }
  const { [key]: old, ...others } = value as JsonObject;
  if (rest.length === 0) return edge === undefined ? others : { ...others, [key]: edge };
  return { ...others, [key]: withValue(old as Json, rest, edge) };
}
