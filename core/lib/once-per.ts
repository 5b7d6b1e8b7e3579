/**
 * Memoizes a function per object. The core never changes its inputs, so that the memo saves only time: a consolidation
 * pass solves one snapshot hundreds of times. An entry is collected with its object.
 * @example
 * const requestsOf = oncePer((spec: PodSpec) => sumOf(spec)); // sums each PodSpec once
 */
export function oncePer<K extends object, V>(work: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, { readonly value: V }>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found.value;
    const value = work(key);
    known.set(key, { value });
    return value;
  };
}
