import { isFields } from "./fields.ts";

/** One step of a JSON Patch (RFC 6902). */
export interface PatchStep {
  readonly op: "add";
  /** JSON Pointer. */
  readonly path: string;
  readonly value: unknown;
}

/** What to add to `before` to have `after`, which has all that `before` has and more. Lists are of equal length; whatever differs is written anew ("add" replaces). */
export function additions(before: unknown, after: unknown, path = ""): readonly PatchStep[] {
  if (Object.is(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return after.flatMap((item, i) => additions(before[i], item, `${path}/${i}`));
  if (isFields(before) && isFields(after))
    return Object.entries(after).flatMap(([key, value]) => additions(before[key], value, `${path}/${escaped(key)}`));
  return [{ op: "add", path, value: after }];
}

/** As JSON Pointer writes a key (RFC 6901). */
function escaped(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
