import { has } from "../../requirements/requirement.ts";
import type { Template } from "../problem/template.ts";
import type { RequirementSet } from "../tables/requirement-sets.ts";

/**
 * Values of a type for a key that a set still allows: minValues counts no others, because the NodeClaim cannot be
 * launched with them (karpenter: pkg/cloudprovider/types.go, InstanceTypes.SatisfiesMinValues).
 */
export function allowedValues(
  { table }: Pick<Template, "table">,
  type: number,
  key: string,
  { requirements }: RequirementSet,
): readonly string[] {
  const values = table.valuesOf(type, key);
  const item = requirements.get(key);
  return item === undefined ? values : values.filter((value) => has(item, value));
}

/**
 * Of some types in order of preference, the first ones that together have as many values that the set allows as the
 * pool's minValues require; fewer where the types do not have enough.
 */
export function neededForMinValues(template: Template, types: readonly number[], set: RequirementSet): readonly number[] {
  return template.minValues.flatMap(({ key, min }) => {
    const values = new Set<string>();
    return types.filter((t) => {
      const before = values.size;
      if (before < min) for (const value of allowedValues(template, t, key, set)) values.add(value);
      return values.size > before;
    });
  });
}
