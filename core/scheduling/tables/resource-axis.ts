import { ownValue } from "../../lib/own-value.ts";
import type { Resources } from "../../model/quantity.ts";

/** The resources that pods of a run request, in a fixed order, so that amounts are vectors in milli-units. */
export class ResourceAxis {
  readonly names: readonly string[];

  constructor(lists: Iterable<Resources>) {
    const names = new Set(["cpu", "memory", "pods"]);
    for (const list of lists) for (const name in list) names.add(name);
    this.names = [...names].sort();
  }

  /** Amounts in the order of `names`; resources beyond the axis are left out. */
  vector(resources: Resources): Float64Array {
    return Float64Array.from(this.names, (name) => ownValue(resources, name) ?? 0);
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
