import type { Template } from "../problem/template.ts";

/**
 * Of some types in order of preference, the first ones that together have as many values as the pool's minValues
 * require; fewer where the types do not have enough.
 */
export function neededForMinValues({ minValues, table }: Template, types: readonly number[]): readonly number[] {
  return minValues.flatMap(({ key, min }) => {
    const values = new Set<string>();
    return types.filter((t) => {
      const before = values.size;
      if (before < min) for (const value of table.valuesOf(t, key)) values.add(value);
      return values.size > before;
    });
  });
}
