import { equalJson, getAt, type Json, type JsonObject, mapAt, type Path, setAt } from "../lib/json.ts";

/** Where a part of a new object comes from: a path of one of the objects that were given. */
export interface Origin {
  readonly to: Path;
  /** Index of the object among those that were given. */
  readonly input: number;
  readonly from: Path;
}

/** The origin that tells of a path: of the longest part of it, and of those the last. */
export function originOf(origins: readonly Origin[], path: Path): Origin | undefined {
  return origins
    .filter(({ to }) => to.length <= path.length && to.every((step, i) => step === path[i]))
    .reduce<Origin | undefined>((best, origin) => (best && best.to.length > origin.to.length ? best : origin), undefined);
}

/** What a person should know about a place of the new object, in one sentence: what, why, and what to do. */
export interface Note {
  /** `told`: done, worth knowing. `act`: something works otherwise until a person acts. `invalid`: the object cannot be applied as it is. */
  readonly level: "told" | "act" | "invalid";
  readonly at: Path;
  readonly text: string;
  /** What to write, where `text` says. */
  readonly sample?: JsonObject;
}

function withNewName(map: JsonObject, from: string, to: string): JsonObject {
  return Object.fromEntries(Object.entries(map).flatMap(([name, one]) => (name === to ? [] : [[name === from ? to : name, one]])));
}

/** An object on its way from one version to another, which remembers where its parts came from. */
export class Draft {
  object: JsonObject;
  readonly input: number;
  readonly origins: Origin[];
  readonly notes: Note[] = [];

  private constructor(object: JsonObject, input: number, origins: Origin[]) {
    this.object = object;
    this.input = input;
    this.origins = origins;
  }

  /** Begins with all of the object in its place. */
  static of(object: JsonObject, input = 0): Draft {
    return new Draft(object, input, [{ to: [], input, from: [] }]);
  }

  /** Begins with nothing; what will stand where it stood comes from there. */
  static empty(input = 0): Draft {
    return new Draft({}, input, [{ to: [], input, from: [] }]);
  }

  get(path: Path): Json | undefined {
    return getAt(this.object, path);
  }

  /** Another object that begins as this one does, with other content. */
  copy(object: JsonObject): Draft {
    const copy = new Draft(object, this.input, [...this.origins]);
    copy.notes.push(...this.notes);
    return copy;
  }

  /** Puts a value in place; `from` is where it stood in the object that was given. Undefined and null take away what is there. */
  set(to: Path, value: Json | undefined, from?: Path): void {
    this.object = setAt(this.object, to, value ?? undefined);
    if (from !== undefined) this.origins.push({ to, input: this.input, from });
  }

  /** Where the value at a path stood in the object that was given. */
  sourceOf(path: Path): Path | undefined {
    const origin = originOf(this.origins, path);
    return origin && [...origin.from, ...path.slice(origin.to.length)];
  }

  /** Takes a value away and returns it. */
  remove(path: Path): Json | undefined {
    const value = this.get(path);
    this.object = setAt(this.object, path, undefined);
    return value;
  }

  /** Moves a value within the object, changed by `as`; within one map it keeps its place. Nothing happens when it is not there. */
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
