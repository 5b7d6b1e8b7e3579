import { getAt, isJsonObject, type Json, type JsonObject, type Path, setAt } from "../../lib/json.ts";
import type { ManifestDraft } from "../draft.ts";

/**
 * An old object whose fields are taken one by one; fields that are left at the end have no place in the new object.
 * @example
 * const remains = new Remains(provisioner);
 * remains.carry(["spec", "weight"], pool, ["spec", "weight"]); // at the end: noteRemains(remains, [], pool)
 */
export class Remains {
  private left: JsonObject;

  constructor(object: JsonObject) {
    this.left = object;
  }

  get(path: Path): Json | undefined {
    return getAt(this.left, path);
  }

  take(path: Path): Json | undefined {
    const value = this.get(path);
    this.left = setAt(this.left, path, undefined);
    return value;
  }

  /** Moves the value at `from` to `to` and converts it by `as`; does nothing when the value is absent. */
  carry(from: Path, draft: ManifestDraft, to: Path, as: (value: Json) => Json | undefined = (value) => value): void {
    const value = this.take(from);
    if (value !== undefined) draft.set(to, as(value), from);
  }

  /** The paths of all values that are left under a path. */
  fields(path: Path): readonly Path[] {
    const value = this.get(path);
    if (value === undefined) return [];
    if (!isJsonObject(value)) return [path];
    return Object.keys(value).flatMap((name) => this.fields([...path, name]));
  }
}

/** Notes each field that is left under a path: v1 has no such field. */
export function noteRemains(remains: Remains, path: Path, draft: ManifestDraft): void {
  for (const field of remains.fields(path)) {
    draft.note(
      "act",
      [],
      `${field.join(".")} is no field of the old version that v1 has a place for; it was left out: ${show(remains.get(field))}`,
    );
  }
}

function show(value: Json | undefined): string {
  const text = JSON.stringify(value) ?? "";
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
