import type { Condition, Key, TableItem, Test, Update } from "./table.ts";

/** Whether an item, or none, meets a condition. */
export function meets(item: TableItem | undefined, condition: Condition): boolean {
  if ("anyOf" in condition) return condition.anyOf.some((test) => passes(item, test));
  return "allOf" in condition ? condition.allOf.every((test) => passes(item, test)) : passes(item, condition);
}

function passes(item: TableItem | undefined, test: Test): boolean {
  if ("absent" in test) return item?.[test.absent] === undefined;
  if ("notNumber" in test) return typeof item?.[test.notNumber] !== "number";
  const value = item?.[test.attribute];
  if ("equals" in test) return value === test.equals;
  if (typeof value !== "number") return false;
  return "atMost" in test ? value <= test.atMost : value < test.below;
}

/** The item after an update. */
export function updated({ pk, sk }: Key, item: TableItem | undefined, { set, setIfAbsent, add = {}, remove = [] }: Update): TableItem {
  const next: Record<string, unknown> = { ...setIfAbsent, ...item, ...set };
  for (const [attribute, value] of Object.entries(add)) next[attribute] = sum(next[attribute], value, attribute);
  for (const attribute of remove) delete next[attribute];
  return { ...next, pk, sk };
}

function sum(before: unknown, value: number | ReadonlySet<string>, attribute: string): unknown {
  if (before === undefined) return value;
  if (typeof before === "number" && typeof value === "number") return before + value;
  if (before instanceof Set && typeof value === "object") return before.union(value);
  throw new Error(`ValidationException: the attribute ${attribute} has another type than what is added`);
}
