import type { InstanceType } from "../../model/instance-type.ts";
import type { Requirement } from "../../requirements/requirement.ts";
import { type Conflict, conflictOf, normalizeKey, type Requirements, requirementsFrom } from "../../requirements/requirements.ts";
import { type Bitset, emptyBitset, setBit } from "./bitset.ts";

type WrittenRequirement = InstanceType["requirements"][number];

/** The requirements of all types on one key. */
interface Column {
  /** Different requirements among the types. */
  readonly items: readonly Requirement[];
  /** Index into `items` by type; -1 where a type does not have the key. */
  readonly itemOf: Int32Array;
}

/**
 * Requirements of many instance types, in columns by key. Most types share a few different requirements, and a run uses
 * few keys. A column is therefore built when its key is first used, and each different requirement is compared only
 * once.
 */
export class RequirementColumns {
  readonly #size: number;
  /** By key: the requirements as written, with their types. */
  readonly #written = new Map<string, { readonly types: number[]; readonly items: WrittenRequirement[] }>();
  readonly #columns = new Map<string, Column>();

  constructor(types: readonly InstanceType[]) {
    this.#size = types.length;
    types.forEach(({ requirements }, t) => {
      for (const item of requirements) {
        const key = normalizeKey(item.key);
        const known = this.#written.get(key);
        if (known === undefined) this.#written.set(key, { types: [t], items: [item] });
        else {
          known.types.push(t);
          known.items.push(item);
        }
      }
    });
  }

  /** The requirement of a type on a key; undefined without one. */
  get(type: number, key: string): Requirement | undefined {
    const column = this.#column(key);
    return column?.items[column.itemOf[type] ?? -1];
  }

  /** Types that do not contradict a requirement, types without its key included. Undefined when no type has the key. */
  agreeing(wanted: Requirement): Bitset | undefined {
    const column = this.#column(wanted.key);
    if (column === undefined) return undefined;
    const asMap: Requirements = new Map([[wanted.key, wanted]]);
    const conflicts = column.items.map((item): Conflict | undefined => conflictOf(new Map([[wanted.key, item]]), asMap));
    const bits = emptyBitset(this.#size);
    for (let t = 0; t < this.#size; t++) if (conflicts[column.itemOf[t] ?? -1] === undefined) setBit(bits, t);
    return bits;
  }

  #column(key: string): Column | undefined {
    const known = this.#columns.get(key);
    if (known !== undefined) return known;
    const written = this.#written.get(key);
    if (written === undefined) return undefined;
    const byType = new Map<number, WrittenRequirement[]>();
    written.types.forEach((t, i) => {
      const item = written.items[i];
      const list = byType.get(t);
      if (item === undefined) return;
      if (list === undefined) byType.set(t, [item]);
      else list.push(item);
    });
    const items: Requirement[] = [];
    const indexByText = new Map<string, number>();
    const itemOf = new Int32Array(this.#size).fill(-1);
    for (const [t, list] of byType) {
      const text = list.map(({ operator, values, minValues }) => `${operator} ${values?.join()} ${minValues}`).join(";");
      let index = indexByText.get(text);
      if (index === undefined) {
        const [item] = requirementsFrom(list).values();
        if (item === undefined) continue;
        index = items.push(item) - 1;
        indexByText.set(text, index);
      }
      itemOf[t] = index;
    }
    const column = { items, itemOf };
    this.#columns.set(key, column);
    return column;
  }
}
