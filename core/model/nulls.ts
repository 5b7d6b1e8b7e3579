import { isJsonObject, type Json } from "../lib/json.ts";
import { oncePer } from "../lib/once-per.ts";
import type { KubernetesObject } from "./kubernetes.ts";

/** An object as readers may take it: a field is absent or has a value. */
interface WithoutNulls<T> {
  /** The same object when it holds no null. */
  readonly object: T;
  /** Where a list holds a null, which is no item of any list; the item is left out of `object`. */
  readonly problem?: string;
}

/**
 * The object without its nulls: the API counts null as absent, and Go writes null for some lists without items. Times
 * of conditions, which are null in each pod, stay: all readers take them.
 */
export const withoutNulls: <T extends KubernetesObject>(object: T) => WithoutNulls<T> = oncePer((object) => {
  const found: string[] = [];
  const kept = stripped(object as unknown as Json, "", found);
  const [first] = found;
  return { object: kept as never, ...(first !== undefined && { problem: `${first} is null; give the list its items, or leave it out` }) };
}) as never;

function stripped(value: Json, path: string, found: string[]): Json {
  if (Array.isArray(value)) return strippedList(value, path, found);
  if (!isJsonObject(value)) return value;
  let copy: Record<string, Json> | undefined;
  for (const name in value) {
    const old = value[name] as Json;
    const kept = old === null || typeof old !== "object" ? old : stripped(old, path === "" ? name : `${path}.${name}`, found);
    if (kept === old && old !== null) continue;
    copy ??= { ...value };
    if (old === null) delete copy[name];
    else copy[name] = kept;
  }
  return copy ?? value;
}

function strippedList(list: readonly Json[], path: string, found: string[]): readonly Json[] {
  const areConditions = path === "status.conditions";
  let isSame = true;
  const kept = list.flatMap((item, i): Json[] => {
    if (item === null) found.push(`${path}[${i}]`);
    const now = item === null || typeof item !== "object" || areConditions ? item : stripped(item, `${path}[${i}]`, found);
    isSame &&= now === item && item !== null;
    return now === null ? [] : [now];
  });
  return isSame ? list : kept;
}
