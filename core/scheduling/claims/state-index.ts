import type { Requirement } from "../../requirements/requirement.ts";
import type { PodData } from "../problem/pod-class.ts";
import type { RequirementSet } from "../tables/requirement-sets.ts";
import type { ClaimState } from "./claim-state.ts";

/** Keys that are indexed; more would cost each new state more than they save. No benchmark has tuned it. */
const MAX_KEYS = 8;

/** States by the value that they are pinned to on one key. */
interface KeyIndex {
  readonly byValue: Map<string, StateList>;
  /** States without the key, or with several values. */
  readonly open: StateList;
}

/**
 * The states that have claims, and which of them a pod could use: a pod that requires one value of a label never fits a
 * claim that is pinned to another one. With a label for each of many tenants, that is nearly all claims.
 */
export class StateIndex {
  readonly #all = new StateList();
  /** By key that some pod pins. */
  readonly #keys = new Map<string, KeyIndex>();

  /** Adds a state that had no claims. `set`: the requirements of its claims. */
  add(state: ClaimState, set: RequirementSet): void {
    this.#all.add(state, set);
    for (const [key, index] of this.#keys) addTo(index, key, state, set);
  }

  /** Lists of states, of which none outside can take the pod. */
  candidates({ set }: PodData): readonly StateList[] {
    for (const [key, item] of set.requirements) {
      const value = pinnedValue(item);
      if (value === undefined) continue;
      const index = this.#indexOf(key);
      if (index === undefined) continue;
      const pinned = index.byValue.get(value);
      return pinned === undefined ? [index.open] : [pinned, index.open];
    }
    return [this.#all];
  }

  #indexOf(key: string): KeyIndex | undefined {
    const known = this.#keys.get(key);
    if (known !== undefined || this.#keys.size >= MAX_KEYS) return known;
    const index = { byValue: new Map<string, StateList>(), open: new StateList() };
    for (const [state, set] of this.#all.entries()) addTo(index, key, state, set);
    this.#keys.set(key, index);
    return index;
  }
}

/** States in the order in which they were last filled; states without claims are dropped now and then. */
export class StateList {
  #entries: (readonly [ClaimState, RequirementSet])[] = [];
  #present = new Set<ClaimState>();
  /** Number of entries at which empty states are dropped. */
  #limit = 64;

  add(state: ClaimState, set: RequirementSet): void {
    if (this.#present.has(state)) return;
    this.#present.add(state);
    this.#entries.push([state, set]);
    if (this.#entries.length < this.#limit) return;
    this.#entries = this.#entries.filter(([{ live }]) => live > 0);
    this.#present = new Set(this.#entries.map(([kept]) => kept));
    this.#limit = Math.max(64, 2 * this.#entries.length);
  }

  entries(): readonly (readonly [ClaimState, RequirementSet])[] {
    return this.#entries;
  }
}

function addTo({ byValue, open }: KeyIndex, key: string, state: ClaimState, set: RequirementSet): void {
  const item = set.requirements.get(key);
  const value = item && pinnedValue(item);
  if (value === undefined) {
    open.add(state, set);
    return;
  }
  const list = byValue.get(value) ?? new StateList();
  byValue.set(value, list);
  list.add(state, set);
}

/** The one value that a requirement allows; undefined when it allows several, none or an absent label. */
function pinnedValue({ complement, values }: Requirement): string | undefined {
  const [value] = values;
  return complement || values.size !== 1 ? undefined : value;
}
