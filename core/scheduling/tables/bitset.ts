/** A set of integers from 0 to `size - 1`, as words of 32 bits. All sets over one table have the same length. */
export type Bitset = Uint32Array;

/** The empty set for integers below `size`. */
export function emptyBitset(size: number): Bitset {
  return new Uint32Array((size + 31) >>> 5);
}

/** The set of all integers below `size`. */
export function fullBitset(size: number): Bitset {
  const set = emptyBitset(size);
  for (let i = 0; i < size; i++) setBit(set, i);
  return set;
}

/** Adds `i` in place. */
export function setBit(set: Bitset, i: number): void {
  set[i >>> 5] = (set[i >>> 5] ?? 0) | (1 << (i & 31));
}

/** Whether `i` is a member; false for integers beyond the set's size. */
export function hasBit(set: Bitset, i: number): boolean {
  return (((set[i >>> 5] ?? 0) >>> (i & 31)) & 1) === 1;
}

/** The members of both sets, as a new set. */
export function intersection(a: Bitset, b: Bitset): Bitset {
  const both = new Uint32Array(a.length);
  for (let w = 0; w < a.length; w++) both[w] = (a[w] ?? 0) & (b[w] ?? 0);
  return both;
}

/** Adds the members of `more` in place. */
export function addAll(set: Bitset, more: Bitset | undefined): void {
  for (let w = 0; w < set.length; w++) set[w] = (set[w] ?? 0) | (more?.[w] ?? 0);
}

/** Removes the members of `fewer` in place. */
export function removeAll(set: Bitset, fewer: Bitset | undefined): void {
  for (let w = 0; w < set.length; w++) set[w] = (set[w] ?? 0) & ~(fewer?.[w] ?? 0);
}

/** Whether the sets have a common member. */
export function overlap(a: Bitset, b: Bitset): boolean {
  for (let w = 0; w < a.length; w++) if (((a[w] ?? 0) & (b[w] ?? 0)) !== 0) return true;
  return false;
}

/** Whether the set has no members. */
export function isEmpty(set: Bitset): boolean {
  for (const word of set) if (word !== 0) return false;
  return true;
}

/** Members in ascending order. */
export function members(set: Bitset): number[] {
  const list: number[] = [];
  for (let w = 0; w < set.length; w++) {
    let word = set[w] ?? 0;
    while (word !== 0) {
      const low = word & -word;
      list.push((w << 5) + (31 - Math.clz32(low)));
      word ^= low;
    }
  }
  return list;
}

/** Number of members. */
export function count(set: Bitset): number {
  return members(set).length;
}
