import { WELL_KNOWN_LABELS } from "../../model/labels.ts";
import { allowsAbsent, canonical, has, type Requirement } from "../../requirements/requirement.ts";
import type { Requirements } from "../../requirements/requirements.ts";

/**
 * Sets of kinds that one pool is asked for at most. Pods that use one label have one set for each of its values; only
 * pods that use many labels, each in many ways, have more.
 */
const MAX_SETS = 64;

/** Which kinds of pods may share a node of one pool, as far as labels decide that no instance type brings. */
interface SharedLabels {
  /** Indexes of kinds that some values of all labels suit together, in rising order; none is a part of another. */
  readonly sets: readonly (readonly number[])[];
  /** False when further sets were left out. */
  readonly areAll: boolean;
}

/**
 * The largest sets of kinds that may share a node. `kinds` has, for each kind, the pool's requirements joined with
 * those of the kind. A node has one value of each label, so kinds share a node if a value of each label suits them all:
 *
 *     // A pool with `tier In [gold, silver]`, and pods with `tier NotIn [gold]`, `tier In [gold]` and without a wish.
 *     sharedLabels([notGold, gold, any]).sets; // [[0, 2], [1, 2]]
 */
export function sharedLabels(kinds: readonly Requirements[]): SharedLabels {
  let sets: readonly (readonly number[])[] = [kinds.map((_, kind) => kind)];
  let areAll = true;
  for (const key of decidingLabels(kinds)) {
    const suited = suitedByValue(kinds.map((requirements) => requirements.get(key)));
    const parts = sets.flatMap((set) => suited.map((kindsOfValue) => set.filter((kind) => kindsOfValue[kind])));
    const largest = largestOf(parts);
    sets = largest.length > MAX_SETS ? firstThatCover(largest) : largest;
    areAll &&= sets.length === largest.length;
  }
  return { sets, areAll };
}

/** Labels that no instance type brings, and about which the kinds differ. */
function decidingLabels(kinds: readonly Requirements[]): readonly string[] {
  const keys = new Set(kinds.flatMap((requirements) => [...requirements.keys()]));
  return [...keys].sort().filter((key) => {
    if (WELL_KNOWN_LABELS.has(key)) return false;
    const [first, ...others] = kinds.map((requirements) => textOf(requirements.get(key)));
    return others.some((text) => text !== first);
  });
}

const textOf = (item: Requirement | undefined): string => (item === undefined ? "" : canonical(item));

/**
 * For each value that a label may have: whether it suits each of the kinds. All values that
 * no kind names suit alike, so one represents them; the absent label is a value too.
 */
function suitedByValue(items: readonly (Requirement | undefined)[]): readonly (readonly boolean[])[] {
  const named = new Set(
    items.flatMap((item) =>
      item === undefined ? [] : [...item.values, ...[item.gte, item.lte].flatMap((bound) => bound?.toString() ?? [])],
    ),
  );
  const isUnbounded = ({ complement, gte, lte }: Requirement): boolean => complement && gte === undefined && lte === undefined;
  const suits = (test: (item: Requirement) => boolean): readonly boolean[] => items.map((item) => item === undefined || test(item));
  const byValue = [...[...named].sort().map((value) => suits((item) => has(item, value))), suits(isUnbounded), suits(allowsAbsent)];
  // Bounds may leave only values that are not named; such a kind shares nodes with those alone that do not care.
  const alone = items.flatMap((item, kind) =>
    byValue.some((kinds) => kinds[kind]) ? [] : [items.map((other) => other === undefined || other === item)],
  );
  return [...byValue, ...alone];
}

/** Sets that are no part of another one, in the given order. */
export function largestOf(sets: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const kept: (readonly number[])[] = [];
  for (const set of [...sets].sort((a, b) => b.length - a.length)) {
    if (set.length > 0 && !kept.some((other) => set.every((kind) => other.includes(kind)))) kept.push(set);
  }
  const order = new Set(sets);
  return [...order].filter((set) => kept.includes(set));
}

/** The first MAX_SETS sets, the largest first, and others as long as they hold a kind that no set before holds. */
function firstThatCover(sets: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const covered = new Set<number>();
  return [...sets]
    .sort((a, b) => b.length - a.length)
    .filter((set, at) => {
      const isKept = at < MAX_SETS || set.some((kind) => !covered.has(kind));
      if (isKept) for (const kind of set) covered.add(kind);
      return isKept;
    });
}
