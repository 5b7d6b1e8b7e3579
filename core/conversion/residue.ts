import { equalJson, getAt, isJsonObject, type Json, type JsonObject, listAt, type Path, setAt } from "../lib/json.ts";

/** One place where an object says what its other version cannot hold: there the conversion alone would give `was`, and `is` was meant. */
export interface Difference {
  readonly at: Path;
  /** Absent: the conversion gives nothing there. */
  readonly was?: Json;
  /** Absent: nothing was meant to be there. */
  readonly is?: Json;
}

/**
 * What makes `converted` into `meant`, in the smallest parts that can be put back on their own: fields of maps one by one, items of lists as a
 * whole, for an item is known by what it says and not by its place. `restore(converted, differences(converted, meant))` equals `meant`.
 */
export function differences(converted: Json | undefined, meant: Json | undefined, at: Path = []): readonly Difference[] {
  if (equalJson(converted, meant)) return [];
  if (isJsonObject(converted) && isJsonObject(meant)) {
    const names = [...new Set([...Object.keys(converted), ...Object.keys(meant)])];
    return names.flatMap((name) => differences(converted[name], meant[name], [...at, name]));
  }
  if (Array.isArray(converted) && Array.isArray(meant) && converted.length === meant.length) {
    return converted.flatMap((was: Json, i): readonly Difference[] => {
      const is = meant[i] as Json;
      return equalJson(was, is) ? [] : [{ at: [...at, i], was, is }];
    });
  }
  return [{ at, ...(converted !== undefined && { was: converted }), ...(meant !== undefined && { is: meant }) }];
}

/**
 * Puts the differences back into what a conversion gives now. Someone may have edited the other version meanwhile, and then the edit counts: a
 * field is only put back where the conversion still gives what it gave, and fields of one map that have changed belong together.
 */
export function restore(converted: JsonObject, parts: readonly Difference[]): JsonObject {
  const [items, fields] = [parts.filter(isItem), parts.filter((part) => !isItem(part))];
  const stale = new Set(
    fields.filter((part) => part.was !== undefined && !equalJson(getAt(converted, part.at), part.was)).map((part) => mapOf(part)),
  );
  const isStanding = (part: Difference): boolean =>
    part.was === undefined ? getAt(converted, part.at) === undefined : !stale.has(mapOf(part));
  const withFields = fields.filter(isStanding).reduce((object, { at, is }) => setAt(object, at, is), converted);
  return items.reduce(withItem, withFields);
}

/** Reads what a version parked in an annotation. People can write there too: what cannot be read, or is about other metadata, is passed over. */
export function readDifferences(value: Json | undefined): readonly Difference[] {
  if (!Array.isArray(value)) return [];
  return value.filter((part): part is JsonObject & Difference => {
    const at = isJsonObject(part) ? part["at"] : undefined;
    return Array.isArray(at) && at.every((step) => typeof step === "string" || typeof step === "number") && isConverted(at);
  });
}

/** The API server refuses a conversion that changes an object's name, kind or labels. */
const isConverted = ([first, second]: readonly Json[]): boolean =>
  first === "spec" || first === "status" || (first === "metadata" && second === "annotations");

const isItem = ({ at }: Difference): boolean => typeof at.at(-1) === "number";

const mapOf = ({ at }: Difference): string => JSON.stringify(at.slice(0, -1));

/** The item may have moved: items before it were added or taken away. */
function withItem(object: JsonObject, { at, was, is }: Difference): JsonObject {
  const list = at.slice(0, -1);
  const items = listAt(object, list);
  const place = Number(at.at(-1));
  const found = equalJson(items[place], was) ? place : items.findIndex((item) => equalJson(item, was));
  return found < 0 ? object : setAt(object, [...list, found], is);
}
