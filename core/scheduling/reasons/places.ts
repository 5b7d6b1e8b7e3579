import { has } from "../../requirements/requirement.ts";
import type { Requirements } from "../../requirements/requirements.ts";
import type { Template } from "../problem/template.ts";
import { type Bitset, members } from "../tables/bitset.ts";
import { inOrder } from "./words.ts";

/**
 * Sorted values of a label that new nodes of a pool may have: those of `types` and of `node`, as far as `node` allows
 * them.
 */
export function placesOf({ table }: Template, types: Bitset, node: Requirements, key: string): readonly string[] {
  const own = node.get(key);
  const values = new Set([...(own?.complement === false ? own.values : []), ...members(types).flatMap((t) => table.valuesOf(t, key))]);
  return inOrder(values).filter((value) => own === undefined || has(own, value));
}
