import { ownValue } from "../../lib/own-value.ts";
import type { Resources } from "../../model/quantity.ts";

/**
 * The resources that pods of a run request, in a fixed order, so that amounts are vectors in milli-units. Resources
 * that nothing offers have one place together, that of the first of them, because one tenant can name thousands.
 */
export class ResourceAxis {
  readonly names: readonly string[];
  readonly #unoffered: ReadonlySet<string>;
  /** Place of the resources that nothing offers; -1 without any. */
  readonly #unofferedPlace: number;

  constructor(lists: Iterable<Resources>, isOffered: (name: string) => boolean = () => true) {
    const names = new Set(["cpu", "memory", "pods"]);
    const unoffered = new Set<string>();
    for (const list of lists) for (const name in list) (names.has(name) || isOffered(name) ? names : unoffered).add(name);
    const [first] = [...unoffered].sort();
    if (first !== undefined) names.add(first);
    this.names = [...names].sort();
    this.#unoffered = unoffered;
    this.#unofferedPlace = first === undefined ? -1 : this.names.indexOf(first);
  }

  /** Place of a resource in `names`; -1 for resources beyond the axis. */
  placeOf(name: string): number {
    return this.#unoffered.has(name) ? this.#unofferedPlace : this.names.indexOf(name);
  }

  /** Amounts in the order of `names`; resources beyond the axis are left out. */
  vector(resources: Resources): Float64Array {
    const vector = Float64Array.from(this.names, (name) => ownValue(resources, name) ?? 0);
    if (this.#unofferedPlace < 0) return vector;
    vector[this.#unofferedPlace] = 0;
    for (const name in resources) {
      if (this.#unoffered.has(name)) vector[this.#unofferedPlace] = (vector[this.#unofferedPlace] ?? 0) + (resources[name] ?? 0);
    }
    return vector;
  }

  /** The reverse of `vector`, without amounts of 0. */
  resources(vector: Float64Array): Resources {
    const result: Record<string, number> = {};
    this.names.forEach((name, i) => {
      const amount = vector[i] ?? 0;
      if (amount !== 0) result[name] = amount;
    });
    return result;
  }
}

/** Adds `b` to `a` in place. */
export function addTo(a: Float64Array, b: Float64Array): void {
  for (let i = 0; i < a.length; i++) a[i] = (a[i] ?? 0) + (b[i] ?? 0);
}

/** Whether `room`, whose vector starts at `offset`, has at least `need` of every resource. */
export function hasRoom(room: Float64Array, offset: number, need: Float64Array): boolean {
  for (let i = 0; i < need.length; i++) if ((need[i] ?? 0) > (room[offset + i] ?? 0)) return false;
  return true;
}
