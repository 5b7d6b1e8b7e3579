/**
 * Gives every plain object an inherited property `key` while `work` runs, as all have "constructor", and returns where
 * the property was read: each is a lookup `map[key]` that must be `ownValue(map, key)` or a `Map`. Reads of objects
 * that have the key themselves are not seen, as they are right.
 */
export async function lookupsOfInherited(key: string, work: () => Promise<unknown>): Promise<readonly string[]> {
  const places = new Set<string>();
  Object.defineProperty(Object.prototype, key, {
    configurable: true,
    get: () => {
      const [, , place = ""] = new Error(key).stack?.split("\n") ?? [];
      places.add(place.trim());
      return undefined;
    },
    set(value: unknown) {
      Object.defineProperty(this, key, { value, configurable: true, enumerable: true, writable: true });
    },
  });
  try {
    await work();
  } finally {
    Reflect.deleteProperty(Object.prototype, key);
  }
  return [...places];
}
