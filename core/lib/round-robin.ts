/**
 * The items in an order in which no group hides another: the first of each group, then the second of each, and so on.
 * With each `turn` another group, and in it another item, comes first, so that a bounded number of items a turn reaches
 * all of them in time.
 *
 *     roundRobin(["a1", "a2", "b1"], ([group]) => group, 0); // ["a1", "b1", "a2"]
 */
export function roundRobin<T>(items: readonly T[], groupOf: (item: T) => string, turn: number): readonly T[] {
  const groups = rotated([...Map.groupBy(items, groupOf).values()], turn).map((group) => rotated(group, turn));
  const longest = Math.max(0, ...groups.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => groups.flatMap((group) => group.slice(at, at + 1))).flat();
}

function rotated<T>(items: readonly T[], by: number): readonly T[] {
  const at = items.length === 0 ? 0 : by % items.length;
  return [...items.slice(at), ...items.slice(0, at)];
}
