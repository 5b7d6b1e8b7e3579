import { WELL_KNOWN_LABELS } from "../../model/labels.ts";
import { OFFERING_KEYS } from "../../requirements/offerings.ts";
import { canonical } from "../../requirements/requirement.ts";
import type { SchedulingProblem } from "../problem/problem.ts";
import type { Template } from "../problem/template.ts";
import { type Bitset, count, intersection } from "../tables/bitset.ts";
import type { RequirementSet } from "../tables/requirement-sets.ts";

/**
 * A pod that allows at least this share of the types that its other requirements leave is packed as if it allowed all
 * of them: the type of a node is chosen last, so a few excluded types seldom decide about it.
 */
const MIN_SHARE_OF_TYPES = 7 / 8;

const OFFERING_LABELS: ReadonlySet<string> = new Set(OFFERING_KEYS);

/** What replaces the requirements of a pod when there are too many kinds: equal texts for pods packed as one kind. */
export interface MergedRequirements {
  readonly set: RequirementSet;
  readonly text: string;
}

/**
 * Replaces requirements on instance types by what they allow: sets that allow the same types are merged, and sets that
 * allow nearly all types are merged with those that allow all. Requirements on offerings (such as the zone) and on
 * custom labels stay as they are. A merged kind may be too wide for some of its pods; such a pod is refused by its
 * proposed node and placed alone.
 */
export function mergedRequirements({ sets }: SchedulingProblem, pools: readonly Template[], set: RequirementSet): MergedRequirements {
  const kept = [...set.requirements].filter(([key]) => OFFERING_LABELS.has(key) || !WELL_KNOWN_LABELS.has(key));
  const wide = sets.intern(new Map(kept));
  const others = kept.map(([, item]) => canonical(item)).sort();
  const types = pools.map((pool) => admittedTypes(sets, pool, set));
  const isWide = pools.every((pool, p) => count(types[p] ?? NO_TYPES) >= MIN_SHARE_OF_TYPES * count(admittedTypes(sets, pool, wide)));
  return isWide ? { set: wide, text: `${others.join("\u0003")} *` } : { set, text: `${others.join("\u0003")} ${types.join(" ")}` };
}

const NO_TYPES: Bitset = new Uint32Array();

function admittedTypes(sets: SchedulingProblem["sets"], pool: Template, set: RequirementSet): Bitset {
  const joined = sets.join(pool.set, set);
  return joined === undefined ? NO_TYPES : intersection(pool.types, pool.table.admitted(joined));
}
