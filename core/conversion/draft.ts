import { equalJson, getAt, type Json, type JsonObject, mapAt, type Path, setAt } from "../lib/json.ts";

/** Where a part of a new object comes from: a path in one of the given objects. */
export interface Origin {
  readonly to: Path;
  /** Index in the given objects. */
  readonly input: number;
  readonly from: Path;
}

/** The origin of a path: the origin with the longest prefix of it; among equal prefixes the last. */
export function originOf(origins: readonly Origin[], path: Path): Origin | undefined {
  return origins
    .filter(({ to }) => to.length <= path.length && to.every((step, i) => step === path[i]))
    .reduce<Origin | undefined>((best, origin) => (best && best.to.length > origin.to.length ? best : origin), undefined);
}

/** What a person should know about a path of the new object, in one sentence: what, why, and what to do. */
export interface Note {
  /**
   * `info`: done, worth knowing. `act`: something works differently until a person acts. `invalid`: the object cannot
   * be applied as it is.
   */
  readonly level: "info" | "act" | "invalid";
  readonly at: Path;
  readonly text: string;
  /** The manifest fragment that `text` asks for. */
  readonly sample?: JsonObject;
}

function withNewName(map: JsonObject, from: string, to: string): JsonObject {
  return Object.fromEntries(Object.entries(map).flatMap(([name, one]) => (name === to ? [] : [[name === from ? to : name, one]])));
}

/**
 * An object in conversion, with the origins of its parts and notes for its reader.
 * @example
 * const draft = Draft.of(object);
 * draft.rename(["spec", "ttl"], ["spec", "expireAfter"], (seconds) => `${seconds}s`);
 */
export class ManifestDraft {
  object: JsonObject;
  readonly input: number;
  readonly origins: Origin[];
  readonly notes: Note[] = [];

  private constructor(object: JsonObject, input: number, origins: Origin[]) {
    this.object = object;
    this.input = input;
    this.origins = origins;
  }

  /** Starts with the whole object; each part keeps its place. */
  static of(object: JsonObject, input = 0): ManifestDraft {
    return new ManifestDraft(object, input, [{ to: [], input, from: [] }]);
  }

  /** Starts empty; a part without an origin of its own comes from the same path. */
  static empty(input = 0): ManifestDraft {
    return new ManifestDraft({}, input, [{ to: [], input, from: [] }]);
  }

  get(path: Path): Json | undefined {
    return getAt(this.object, path);
  }

  /** A draft with the same origins and notes, and other content. */
  copy(object: JsonObject): ManifestDraft {
    const copy = new ManifestDraft(object, this.input, [...this.origins]);
    copy.notes.push(...this.notes);
    return copy;
  }

  /** Sets a value; `from` is its path in the given object. Undefined and null remove the value. */
  set(to: Path, value: Json | undefined, from?: Path): void {
    this.object = setAt(this.object, to, value ?? undefined);
    if (from !== undefined) this.origins.push({ to, input: this.input, from });
  }

  /** The path of a value in the given object. */
  sourceOf(path: Path): Path | undefined {
    const origin = originOf(this.origins, path);
    return origin && [...origin.from, ...path.slice(origin.to.length)];
  }

  /** Removes a value and returns it. */
  remove(path: Path): Json | undefined {
    const value = this.get(path);
    this.object = setAt(this.object, path, undefined);
    return value;
  }

  /**
   * Moves a value within the object and converts it by `as`; within one map it keeps its place. Does nothing when the
   * value is absent.
   */
  rename(from: Path, to: Path, as: (value: Json) => Json | undefined = (value) => value): void {
    const value = this.get(from);
    if (value === undefined) return;
    const map = from.slice(0, -1);
    const isInPlace = equalJson(map, to.slice(0, -1)) && this.get(to) === undefined;
    if (isInPlace) this.set(map, withNewName(mapAt(this.object, map), String(from.at(-1)), String(to.at(-1))));
    else this.remove(from);
    this.set(to, as(value), this.sourceOf(from));
  }

  note(level: Note["level"], at: Path, text: string, sample?: JsonObject): void {
    this.notes.push({ level, at, text, ...(sample && { sample }) });
  }
}
