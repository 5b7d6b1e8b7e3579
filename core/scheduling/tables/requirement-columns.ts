import type { InstanceType } from "../../model/instance-type.ts";
import type { Requirement } from "../../requirements/requirement.ts";
import { conflictOf, normalizeKey, type Requirements, requirementsFrom } from "../../requirements/requirements.ts";
import { addAll, type Bitset, emptyBitset, fullBitset, removeAll, setBit } from "./bitset.ts";

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
      // Counted, because a cold start reads 30,000 of them before the code is compiled.
      for (let i = 0; i < requirements.length; i++) {
        const item = requirements[i] as WrittenRequirement;
        const known = this.#written.get(item.key) ?? this.#written.get(normalizeKey(item.key));
        if (known === undefined) this.#written.set(normalizeKey(item.key), { types: [t], items: [item] });
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

  /** The different requirements of the types on a key. */
  items(key: string): readonly Requirement[] {
    return this.#column(key)?.items ?? [];
  }

  /** Types that do not contradict a requirement, types without its key included. Undefined when no type has the key. */
  agreeing(wanted: Requirement): Bitset | undefined {
    const column = this.#column(wanted.key);
    if (column === undefined) return undefined;
    const bits = fullBitset(this.#size);
    const asMap: Requirements = new Map([[wanted.key, wanted]]);
    const compare = (at: number): void => {
      const [item, types] = [column.items[at], column.typesOf[at]];
      if (item !== undefined && types !== undefined && conflictOf(new Map([[wanted.key, item]]), asMap) !== undefined)
        removeAll(bits, types);
    };
    column.others.forEach(compare);
    // Pods that name a few values of their own are compared with the types that have these, not with all.
    const named = [...wanted.values].flatMap((value) => column.ofOneValue.get(value) ?? []);
    if (!wanted.complement) {
      removeAll(bits, column.oneValue);
      for (const at of named) addAll(bits, column.typesOf[at]);
    } else if (wanted.gte === undefined && wanted.lte === undefined) {
      for (const at of named) removeAll(bits, column.typesOf[at]);
    } else for (const items of column.ofOneValue.values()) items.forEach(compare);
    return bits;
  }

  #column(key: string): Column | undefined {
    const known = this.#columns.get(key);
    if (known !== undefined) return known;
    const written = this.#written.get(key);
    if (written === undefined) return undefined;
    const items: Requirement[] = [];
    const typesOf: Bitset[] = [];
    const itemOf = new Int32Array(this.#size).fill(-1);
    const indexByText = new Map<string, number>();
    const indexOf = (list: readonly WrittenRequirement[]): number => {
      const text = list.map(({ operator, values, minValues }) => `${operator} ${values?.join()} ${minValues}`).join(";");
      const known = indexByText.get(text);
      if (known !== undefined) return known;
      const [item] = requirementsFrom(list).values();
      if (item === undefined) return -1;
      indexByText.set(text, items.length);
      typesOf.push(emptyBitset(this.#size));
      return items.push(item) - 1;
    };
    // Instance types share the objects of equal requirements (core/offerings/type-requirements.ts).
    const indexByObject = new Map<WrittenRequirement, number>();
    for (let i = 0, end = 0; i < written.types.length; i = end) {
      const [t, first] = [written.types[i] ?? 0, written.items[i]];
      end = i + 1;
      while (written.types[end] === t) end++;
      if (first === undefined) continue;
      let index = end === i + 1 ? indexByObject.get(first) : undefined;
      if (index === undefined) {
        index = indexOf(written.items.slice(i, end));
        if (end === i + 1) indexByObject.set(first, index);
      }
      itemOf[t] = index;
      const bits = typesOf[index];
      if (bits !== undefined) setBit(bits, t);
    }
    const ofOneValue = new Map<string, number[]>();
    const oneValue = emptyBitset(this.#size);
    const others: number[] = [];
    items.forEach(({ complement, values }, at) => {
      const [value] = values;
      if (complement || values.size > 1 || value === undefined) {
        others.push(at);
        return;
      }
      const same = ofOneValue.get(value);
      if (same === undefined) ofOneValue.set(value, [at]);
      else same.push(at);
      addAll(oneValue, typesOf[at]);
    });
    const column = { items, itemOf, typesOf, ofOneValue, oneValue, others };
    this.#columns.set(key, column);
    return column;
  }
}
