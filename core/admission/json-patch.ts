import { isJsonObject } from "../lib/json.ts";
import { ownValue } from "../lib/own-value.ts";

/** One step of a JSON Patch (RFC 6902). */
export interface PatchStep {
  readonly op: "add";
  /** JSON Pointer. */
  readonly path: string;
  readonly value: unknown;
}

/**
 * The additions that turn `before` into `after`, which has every field of `before`. Lists must have equal lengths; a
 * value that differs is replaced ("add" replaces).
 */
export function additions(before: unknown, after: unknown, path = ""): readonly PatchStep[] {
  if (Object.is(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return after.flatMap((item, i) => additions(before[i], item, `${path}/${i}`));
  if (isJsonObject(before) && isJsonObject(after))
    return Object.entries(after).flatMap(([key, value]) => additions(ownValue(before, key), value, `${path}/${escaped(key)}`));
  return [{ op: "add", path, value: after }];
}

/** A key as JSON Pointer writes it (RFC 6901). */
function escaped(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
