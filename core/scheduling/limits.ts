import type { Resources } from "../model/quantity.ts";
import { type Bitset, members } from "./bitset.ts";
import type { Template } from "./template.ts";

/** What the limits of pools leave while claims are planned. A claim is charged for the largest type that it may still become. */
export class Limits {
  readonly #left: readonly (Record<string, number> | undefined)[];

  constructor(templates: readonly Template[]) {
    this.#left = templates.map(({ remaining }) => (remaining === undefined ? undefined : { ...remaining }));
  }

  /** Milli-units by resource; undefined without limits. */
  left({ index }: Template): Resources | undefined {
    return this.#left[index];
  }

  /** Takes what a claim of these types may use, or gives it back (-1). */
  charge(template: Template, types: Bitset, sign: 1 | -1): void {
    const left = this.#left[template.index];
    if (left === undefined) return;
    for (const name in left) {
      const most = name === "nodes" ? 1000 : template.table.largest(types, name);
      left[name] = (left[name] ?? 0) - sign * most;
    }
  }

  /** Types of a pool that would not exceed what is left. */
  typesWithin(template: Template): Bitset {
    const left = this.#left[template.index];
    if (left === undefined) return template.types;
    const within = Uint32Array.from(template.types);
    if ((left["nodes"] ?? 1000) < 1000) return within.fill(0);
    for (const t of members(template.types)) {
      const capacity = template.table.capacity[t] ?? {};
      for (const name in left) {
        if (name !== "nodes" && (capacity[name] ?? 0) > (left[name] ?? 0)) within[t >>> 5] = (within[t >>> 5] ?? 0) & ~(1 << (t & 31));
      }
    }
    return within;
  }
}
