import { isJsonObject, type Json } from "#core/lib/json.ts";
import type { Random } from "#lab/world/random.ts";

/** Texts at the edges: names that every object inherits, amounts, times, lengths, control characters, half letters. */
export const ODD_TEXTS: readonly [string, ...string[]] = [
  ...(["", " ", "constructor", "__proto__", "toString", "hasOwnProperty", "null", "-0", "1e9999", "-1", "0x10", "NaN", "1e1.5"] as const),
  ...["99999999999999999999h", "1999-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "275760-09-13T00:00:00Z", "${", "{{", "<<a", "*", "&a"],
  ...["x".repeat(63), "x".repeat(253), "x".repeat(100_000), "\u0000", "\ud800", "ü€😀", "a/b/c", "../..", "\n---\n", "a: &a [*a]"],
];

/** Values at the edges of JSON. */
const ODD_VALUES: readonly [Json, ...Json[]] = [
  ...([null, true, false, 0, -0, -1, 0.5, 2 ** 31, 2 ** 53, -(2 ** 63), 1e308, [], {}, [null], [[]], [{}]] as const),
  ...[{ toString: 1 }, { valueOf: null, toString: null }, { length: 3 }, { constructor: { name: "x" } }],
  ...ODD_TEXTS,
];

/** A copy of the value in which up to three places hold something odd, are gone, doubled, or renamed. */
export function mutatedJson(value: Json, random: Random): Json {
  let mutated = value;
  for (let count = random.between(1, 3); count > 0; count--) {
    const places = random.between(1, placesIn(mutated));
    mutated = changeAt(mutated, { left: places }, random);
  }
  return mutated;
}

function placesIn(value: Json): number {
  const items: readonly Json[] = Array.isArray(value) ? value : isJsonObject(value) ? Object.values(value) : [];
  return items.reduce<number>((sum, item) => sum + placesIn(item), 1);
}

function changeAt(value: Json, counter: { left: number }, random: Random): Json {
  counter.left--;
  if (counter.left === 0) return random.next() < 0.1 ? [value, value] : random.pick(ODD_VALUES);
  if (Array.isArray(value)) {
    const items = (value as readonly Json[]).map((item) => (counter.left > 0 ? changeAt(item, counter, random) : item));
    return counter.left === 0 && random.next() < 0.1 ? [...items, ...items] : items;
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]): (readonly [string, Json])[] => {
      if (counter.left <= 0) return [[name, item]];
      const changed = changeAt(item, counter, random);
      if (counter.left > 0 || random.next() < 0.8) return [[name, changed]];
      return random.next() < 0.5 ? [] : [[random.pick(ODD_TEXTS), item]];
    }),
  );
}

/** A copy of the text that is cut off, or in which a stretch is doubled, gone, or replaced by something odd. */
export function mutatedText(text: string, random: Random): string {
  const from = random.between(0, text.length);
  const to = Math.min(text.length, from + random.between(0, 40));
  const [before, stretch, after] = [text.slice(0, from), text.slice(from, to), text.slice(to)];
  const odd = random.pick(ODD_TEXTS);
  return random.pick([
    () => before,
    () => before + after,
    () => before + stretch + stretch + after,
    () => before + odd + after,
    () => before + stretch.repeat(random.between(2, 2_000)) + after,
    () => before + odd.slice(0, 20).repeat(random.between(2, 2_000)) + after,
  ])();
}
