import type { Template } from "../problem/template.ts";
import { counted, inOrder, listed } from "./words.ts";

/** The minValues that the types which would hold the pod do not reach; undefined when they reach all. */
export function minValuesText({ minValues, table }: Template, roomy: readonly number[]): string | undefined {
  for (const { key, least } of minValues) {
    const values = inOrder(new Set(roomy.flatMap((t) => table.valuesOf(t, key))));
    if (values.length < least) {
      return `its minValues wants ${least} different ${key}, and the ${counted(roomy.length, "instance type")} that would hold the pod have ${values.length} (${listed(values)}); lower minValues or widen the pool`;
    }
  }
  return undefined;
}
