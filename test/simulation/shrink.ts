/**
 * Delta debugging (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002): removes smaller
 * and smaller parts of the list while `fails` still holds, and returns the shortest list found. `fails(items)` must
 * hold; at most `tries` lists are tried.
 */
export async function shrink<T>(
  items: readonly T[],
  fails: (fewer: readonly T[]) => Promise<boolean>,
  tries: number,
): Promise<readonly T[]> {
  let left = tries;
  let current = items;
  let parts = 2;
  const attempt = async (fewer: readonly T[]): Promise<boolean> => left-- > 0 && (await fails(fewer));
  if (items.length > 0 && (await attempt([]))) return [];
  while (current.length > 0 && left > 0) {
    const size = Math.ceil(current.length / parts);
    let cut = false;
    for (let start = 0; start < current.length && left > 0; start += size) {
      const fewer = [...current.slice(0, start), ...current.slice(start + size)];
      if (fewer.length < current.length && (await attempt(fewer))) {
        current = fewer;
        parts = Math.max(2, parts - 1);
        cut = true;
        break;
      }
    }
    if (cut) continue;
    if (size === 1) break;
    parts = Math.min(current.length, parts * 2);
  }
  return current;
}
