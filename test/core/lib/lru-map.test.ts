import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LruMap } from "#core/lib/lru-map.ts";

describe("LruMap", () => {
  it("drops the entry that was not used for longest; reading counts as use", () => {
    const map = new LruMap<string, number>(2);
    map.set("a", 1);
    map.set("b", 2);
    expect(map.get("a")).toBe(1);
    map.set("c", 3);
    expect([map.get("a"), map.get("b"), map.get("c")]).toEqual([1, undefined, 3]);
  });

  it("keeps falsy values and writes over a key without dropping another", () => {
    const map = new LruMap<string, number>(2);
    map.set("a", 0);
    map.set("b", 1);
    map.set("a", 0);
    expect([map.get("a"), map.get("b"), map.size]).toEqual([0, 1, 2]);
  });

  it("holds the keys that were used last, as many as the limit", () => {
    const use = fc.record({ key: fc.integer({ min: 0, max: 9 }), reads: fc.boolean() });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.array(use, { maxLength: 40 }), (limit, uses) => {
        const map = new LruMap<number, number>(limit);
        let recent: number[] = [];
        for (const { key, reads } of uses) {
          if (reads) expect(map.get(key)).toBe(recent.includes(key) ? key : undefined);
          else map.set(key, key);
          if (!reads || recent.includes(key)) recent = [key, ...recent.filter((other) => other !== key)].slice(0, limit);
          expect(map.size).toBe(recent.length);
        }
      }),
    );
  });
});
