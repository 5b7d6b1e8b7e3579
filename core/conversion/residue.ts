import { equalJson, getAt, isJsonObject, type Json, type JsonObject, listAt, type Path, setAt } from "../lib/json.ts";
import { ownValue } from "../lib/own-value.ts";

/**
 * One path with a value that the other version cannot express: the conversion alone gives `was`, the object has `is`.
 */
interface Difference {
  readonly at: Path;
  /** Absent: the conversion gives no value there. */
  readonly was?: Json;
  /** Absent: the object has no value there. */
  readonly is?: Json;
}

/**
 * What turns `converted` into `meant`, in the smallest parts that can be restored independently: fields of maps one by
 * one, items of lists as a whole, because an item is identified by its content and not by its index.
 * `restore(converted, differences(converted, meant))` equals `meant`.
 */
export function differences(converted: Json | undefined, meant: Json | undefined, at: Path = []): readonly Difference[] {
  if (equalJson(converted, meant)) return [];
  if (isJsonObject(converted) && isJsonObject(meant)) {
    const names = [...new Set([...Object.keys(converted), ...Object.keys(meant)])];
    return names.flatMap((name) => differences(ownValue(converted, name), ownValue(meant, name), [...at, name]));
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
 * Restores the differences in the result of a conversion. The other version may have been edited meanwhile, and then
 * the edit wins: a field is restored only where the conversion still gives its old result, and changed fields of one
 * map are restored together.
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

/**
 * Reads the differences from an annotation. People can edit annotations, so entries that cannot be parsed, or that
 * touch other metadata, are skipped.
 */
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

/** Finds the item by its content, because it may have moved when items before it were added or removed. */
function withItem(object: JsonObject, { at, was, is }: Difference): JsonObject {
  const list = at.slice(0, -1);
  const items = listAt(object, list);
  const place = Number(at.at(-1));
  const found = equalJson(items[place], was) ? place : items.findIndex((item) => equalJson(item, was));
  return found < 0 ? object : setAt(object, [...list, found], is);
}
