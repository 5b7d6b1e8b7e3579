import type { Template } from "../problem/template.ts";
import { counted, inOrder, listed } from "./words.ts";

/** The minValues that the types with room for the pod do not reach; undefined when they reach all. */
export function minValuesText({ minValues, table }: Template, roomy: readonly number[]): string | undefined {
  for (const { key, min } of minValues) {
    const values = inOrder(new Set(roomy.flatMap((t) => table.valuesOf(t, key))));
    if (values.length < min) {
      return `its minValues wants ${min} different ${key}, and the ${counted(roomy.length, "instance type")} that would hold the pod have ${values.length} (${listed(values)}); lower minValues or widen the pool`;
    }
  }
  return undefined;
}
