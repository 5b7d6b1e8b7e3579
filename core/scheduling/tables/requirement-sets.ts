import {
  CAPACITY_RESERVATION_ID,
  CAPACITY_TYPE,
  HOSTNAME,
  INSTANCE_TYPE,
  NODE_CLASS,
  NODE_POOL,
  WELL_KNOWN_LABELS,
} from "../../model/labels.ts";
import { canonical, requirement, serialize } from "../../requirements/requirement.ts";
import { compatible, intersectAll, type Requirements } from "../../requirements/requirements.ts";
import { MAX_REQUIREMENTS, MAX_VALUE_CHARACTERS, unwritable } from "../../requirements/validation.ts";

/** Requirements that exist once in a run, so that results can be remembered by `id`. */
export interface RequirementSet {
  readonly id: number;
  readonly requirements: Requirements;
}

/** Steps of a new set: its types, prices and frontier follow from it, besides a step for each of its values. */
const STEPS_OF_SET = 200;
/** Steps of a join that is not remembered, besides a step for each value. */
const STEPS_OF_JOIN = 20;
/** Joins that are remembered, which bounds the memory for pods that are all different. */
const MAX_JOINS = 1_000_000;

/** Interns requirement sets and remembers their joins. A run has few different sets, however many pods it places. */
export class RequirementSets {
  readonly #byText = new Map<string, RequirementSet>();
  readonly #joins: Map<number, RequirementSet | undefined>[] = [];
  /** By set; false for what no NodeClaim can ask for. */
  readonly #writable: (boolean | undefined)[] = [];
  #joinCount = 0;
  #steps = 0;
  readonly #single = new Map<string, Map<string, RequirementSet>>();

  /** Work done so far, in steps of about 0.1 µs. */
  get steps(): number {
    return this.#steps;
  }

  /** The one set with these requirements. */
  intern(requirements: Requirements): RequirementSet {
    const text = requirements.size === 0 ? "" : [...requirements.values()].map(canonical).sort().join("\u0003");
    const known = this.#byText.get(text);
    if (known !== undefined) return known;
    this.#steps += STEPS_OF_SET;
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
   * compatible, or more than the API server takes. A pod that runs may ask for what no NodeClaim can ask for, and then
   * existing nodes alone take it. A well-known label of `added` may be missing from `base`, because
   * instance types bring it.
   */
  join(base: RequirementSet, added: RequirementSet): RequirementSet | undefined {
    if (added.requirements.size === 0 || base === added) return base;
    const memo = this.#joins[base.id];
    const known = memo?.get(added.id);
    if (known !== undefined || memo?.has(added.id)) return known;
    this.#steps += STEPS_OF_JOIN + size(base) + size(added);
    const both =
      this.#isWritable(added) && compatible(base.requirements, added.requirements, WELL_KNOWN_LABELS)
        ? intersectAll(base.requirements, added.requirements)
        : undefined;
    const joined = both && isWithinBounds(both) ? this.intern(both) : undefined;
    if (this.#joinCount < MAX_JOINS) {
      this.#joinCount++;
      memo?.set(added.id, joined);
    }
    return joined;
  }

  #isWritable({ id, requirements }: RequirementSet): boolean {
    this.#writable[id] ??= unwritableItem(requirements) === undefined;
    return this.#writable[id];
  }
}

/** Why no NodeClaim can ask for a pod's requirements; undefined when one can. Hostnames have rules of their own. */
export function unwritableItem(set: Requirements): string | undefined {
  for (const [key, { values }] of set) {
    if (key === HOSTNAME || key === NODE_CLASS) continue;
    const problem = unwritable({ key, values: [...values] });
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Number of values in a set's requirements. */
function size({ requirements }: RequirementSet): number {
  let values = 0;
  for (const item of requirements.values()) values += item.values.size;
  return values;
}

/** Every NodeClaim has one item of each of these, whether its pods ask for them or not. */
const ALWAYS: readonly string[] = [NODE_POOL, INSTANCE_TYPE, CAPACITY_TYPE, CAPACITY_RESERVATION_ID];

/** Items that the pool and the pods of a NodeClaim may have together. */
export const MAX_ITEMS = MAX_REQUIREMENTS - ALWAYS.length;

/** Whether the API server takes a NodeClaim with these requirements. */
export const isWithinBounds = (set: Requirements): boolean => itemsOf(set) <= MAX_ITEMS && valueCharacters(set) <= MAX_VALUE_CHARACTERS;

/** How long the values of a NodeClaim's requirements are together, without those of ALWAYS. */
export function valueCharacters(set: Requirements): number {
  let characters = 0;
  for (const [key, { values }] of set) if (!ALWAYS.includes(key)) for (const value of values) characters += value.length;
  return characters;
}

/** How many items of a NodeClaim's requirements a set becomes, without those of ALWAYS: one to four for each key. */
export function itemsOf(set: Requirements): number {
  let items = 0;
  for (const [key, item] of set) if (!ALWAYS.includes(key)) items += serialize(item).length;
  return items;
}
