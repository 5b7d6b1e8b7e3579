import type { InstanceType } from "../../model/instance-type.ts";
import type { Requirement } from "../../requirements/requirement.ts";
import { conflictOf, normalizeKey, type Requirements, requirementsFrom } from "../../requirements/requirements.ts";
import { type Bitset, emptyBitset, fullBitset, setBit } from "./bitset.ts";

type WrittenRequirement = InstanceType["requirements"][number];

/** The requirements of all types on one key. */
interface Column {
  /** Different requirements among the types. */
  readonly items: readonly Requirement[];
  /** Index into `items` by type; -1 where a type does not have the key. */
  readonly itemOf: Int32Array;
  /** By index into `items`: the types that have it. */
  readonly typesOf: readonly Bitset[];
  /** By value: the items that are this one value, of which there may be as many as types. */
  readonly ofOneValue: ReadonlyMap<string, readonly number[]>;
  /** The types of all those. */
  readonly oneValue: Bitset;
  /** The other items. */
  readonly others: readonly number[];
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
    const bits = fullBitset(this.#size);
    const asMap: Requirements = new Map([[wanted.key, wanted]]);
    const compare = (at: number): void => {
      const [item, types] = [column.items[at], column.typesOf[at]];
      if (item !== undefined && types !== undefined && conflictOf(new Map([[wanted.key, item]]), asMap) !== undefined) remove(bits, types);
    };
    column.others.forEach(compare);
    // Pods that name a few values of their own are compared with the types that have these, not with all.
    const named = [...wanted.values].flatMap((value) => column.ofOneValue.get(value) ?? []);
    if (!wanted.complement) {
      remove(bits, column.oneValue);
      for (const at of named) add(bits, column.typesOf[at]);
    } else if (wanted.gte === undefined && wanted.lte === undefined) {
      for (const at of named) remove(bits, column.typesOf[at]);
    } else for (const items of column.ofOneValue.values()) items.forEach(compare);
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
    const typesOf = items.map(() => emptyBitset(this.#size));
    itemOf.forEach((at, t) => {
      const bits = typesOf[at];
      if (bits !== undefined) setBit(bits, t);
    });
    const ofOneValue = new Map<string, number[]>();
    const oneValue = emptyBitset(this.#size);
    const others: number[] = [];
    items.forEach(({ complement, values }, at) => {
      const [value] = values;
      if (complement || values.size > 1 || value === undefined) {
        others.push(at);
        return;
      }
      ofOneValue.set(value, [...(ofOneValue.get(value) ?? []), at]);
      add(oneValue, typesOf[at]);
    });
    const column = { items, itemOf, typesOf, ofOneValue, oneValue, others };
    this.#columns.set(key, column);
    return column;
  }
}

function add(bits: Bitset, types: Bitset | undefined): void {
  for (let w = 0; w < bits.length; w++) bits[w] = (bits[w] ?? 0) | (types?.[w] ?? 0);
}

function remove(bits: Bitset, types: Bitset | undefined): void {
  for (let w = 0; w < bits.length; w++) bits[w] = (bits[w] ?? 0) & ~(types?.[w] ?? 0);
}
