/** Steps of a value, below which two values are compared exactly afterwards: of prices, a millionth of a dollar. */
const STEPS = 1e6;

/**
 * Some of the indexes of `values` by rising value, then by index. Sorts numbers that hold value and index, because the
 * engine sorts those without a call for each comparison, which a cold process pays for most.
 *
 *     risingOrder([0, 1, 2], Float64Array.of(0.3, 0.1, 0.2)); // [1, 2, 0]
 */
export function risingOrder(indexes: readonly number[], values: Float64Array): number[] {
  let highest = 0;
  for (const index of indexes) highest = Math.max(highest, values[index] ?? 0);
  // Beyond 2⁵³ the index would be lost.
  if (highest * STEPS * values.length >= Number.MAX_SAFE_INTEGER / 2 || !Number.isFinite(highest)) {
    return [...indexes].sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0) || a - b);
  }
  const keys = new Float64Array(indexes.length);
  for (let i = 0; i < keys.length; i++) {
    const index = indexes[i] ?? 0;
    keys[i] = Math.floor((values[index] ?? 0) * STEPS) * values.length + index;
  }
  keys.sort();
  const order: number[] = [];
  for (let i = 0; i < keys.length; i++) {
    const index = (keys[i] ?? 0) % values.length;
    const value = values[index] ?? 0;
    let at = order.push(index) - 1;
    for (let before = order[at - 1]; before !== undefined && isAfter(values, before, value, index); before = order[at - 1]) {
      order[at] = before;
      order[--at] = index;
    }
  }
  return order;
}

/** Whether one index comes after another of this value. */
function isAfter(values: Float64Array, one: number, value: number, index: number): boolean {
  const other = values[one] ?? 0;
  return other > value || (other === value && one > index);
}
