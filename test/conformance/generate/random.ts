/** Random choices that depend only on a seed. */
export interface Random {
  /** An integer from `least` to `most`, inclusive. */
  int(least: number, most: number): number;
  /** True with probability `share` (0 … 1). */
  chance(share: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** At least `least` and at most `most` (or all) of the items, in random order. */
  some<T>(list: readonly T[], least?: number, most?: number): T[];
}

/** Mulberry32 over an FNV-1a hash of the seed's text; 32 bits of state are enough for scenarios. */
export function random(seed: string): Random {
  let state = 0x811c9dc5;
  for (const char of seed) state = Math.imul(state ^ (char.codePointAt(0) ?? 0), 0x01000193);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  const some = <T>(list: readonly T[], least = 1, most = list.length): T[] => {
    const left = [...list];
    return Array.from({ length: int(Math.min(least, left.length), Math.min(most, left.length)) }, () =>
      left.splice(int(0, left.length - 1), 1),
    ).flat();
  };
  return {
    int,
    chance: (share) => next() < share,
    pick: (list) => {
      if (list.length === 0) throw new RangeError("there is nothing to pick from");
      return list[int(0, list.length - 1)] as (typeof list)[number];
    },
    some,
  };
}
