/**
 * A function that works each object out once. Inputs of the core are values that nobody changes, so the memo cannot be seen from outside but
 * for the time saved: a consolidation pass solves one snapshot hundreds of times. Entries go with their object.
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
