import { CAPACITY_RESERVATION_ID, CAPACITY_TYPE, INSTANCE_TYPE, NODE_POOL, WELL_KNOWN_LABELS } from "../../model/labels.ts";
import { canonical, requirement, serialize } from "../../requirements/requirement.ts";
import { compatible, intersectAll, type Requirements } from "../../requirements/requirements.ts";
import { MAX_REQUIREMENTS } from "../../requirements/validation.ts";

/** Requirements that exist once in a run, so that results can be remembered by `id`. */
export interface RequirementSet {
  readonly id: number;
  readonly requirements: Requirements;
}

/** Interns requirement sets and remembers their joins. A run has few different sets, however many pods it places. */
export class RequirementSets {
  readonly #byText = new Map<string, RequirementSet>();
  readonly #joins: Map<number, RequirementSet | undefined>[] = [];
  readonly #single = new Map<string, Map<string, RequirementSet>>();

  /** The one set with these requirements. */
  intern(requirements: Requirements): RequirementSet {
    const text = requirements.size === 0 ? "" : [...requirements.values()].map(canonical).sort().join("\u0003");
    const known = this.#byText.get(text);
    if (known !== undefined) return known;
    const set = { id: this.#byText.size, requirements };
    this.#byText.set(text, set);
    this.#joins.push(new Map());
    return set;
  }

  /** The set of the single requirement `key In values`. */
  oneOf(key: string, values: readonly string[]): RequirementSet {
    const [value] = values;
    if (value === undefined || values.length > 1) return this.intern(new Map([[key, requirement(key, "In", values)]]));
    const byValue = this.#single.get(key) ?? new Map<string, RequirementSet>();
    this.#single.set(key, byValue);
    const known = byValue.get(value);
    if (known !== undefined) return known;
    const set = this.intern(new Map([[key, requirement(key, "In", values)]]));
    byValue.set(value, set);
    return set;
  }

  /**
   * The requirements of a new claim with `base` after it takes a pod with `added`; undefined when they are not
   * compatible, or more than the API server takes. A well-known label of `added` may be missing from `base`, because
   * instance types bring it.
   */
  join(base: RequirementSet, added: RequirementSet): RequirementSet | undefined {
    if (added.requirements.size === 0 || base === added) return base;
    const memo = this.#joins[base.id];
    const known = memo?.get(added.id);
    if (known !== undefined || memo?.has(added.id)) return known;
    const both = compatible(base.requirements, added.requirements, WELL_KNOWN_LABELS)
      ? intersectAll(base.requirements, added.requirements)
      : undefined;
    const joined = both && itemsOf(both) <= MAX_ITEMS ? this.intern(both) : undefined;
    memo?.set(added.id, joined);
    return joined;
  }
}

/** Every NodeClaim has one item of each of these, whether its pods ask for them or not. */
const ALWAYS: readonly string[] = [NODE_POOL, INSTANCE_TYPE, CAPACITY_TYPE, CAPACITY_RESERVATION_ID];

/** Items that the pool and the pods of a NodeClaim may have together. */
export const MAX_ITEMS = MAX_REQUIREMENTS - ALWAYS.length;

/** How many items of a NodeClaim's requirements a set becomes, without those of ALWAYS: one to four for each key. */
export function itemsOf(set: Requirements): number {
  let items = 0;
  for (const [key, item] of set) if (!ALWAYS.includes(key)) items += serialize(item).length;
  return items;
}
