import { allowedValues } from "../claims/min-values.ts";
import type { Template } from "../problem/template.ts";
import type { RequirementSet } from "../tables/requirement-sets.ts";
import { counted, inOrder, listed } from "./words.ts";

/** The minValues that the types that suit the pod under a set do not reach; undefined when they reach all. */
export function minValuesText(template: Template, types: readonly number[], set: RequirementSet): string | undefined {
  for (const { key, min } of template.minValues) {
    const values = inOrder(new Set(types.flatMap((t) => allowedValues(template, t, key, set))));
    if (values.length < min) {
      return `its minValues wants ${min} different ${key}, and the ${counted(types.length, "instance type")} that would hold the pod have ${values.length} (${listed(values)}); lower minValues or widen the pool`;
    }
  }
  return undefined;
}
