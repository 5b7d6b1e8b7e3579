/**
 * The known name closest to a mistyped name (other letter case, or at most two letters differ); undefined when no name
 * or more than one is that close.
 */
export function nearest(name: string, names: Iterable<string>): string | undefined {
  // Short names are close to everything: "gpu" differs from "app" by two letters.
  let least = Math.min(2, Math.ceil(name.length / 4));
  let found: string | undefined;
  let isSole = true;
  for (const known of new Set(names)) {
    const away = known === name ? Number.POSITIVE_INFINITY : known.toLowerCase() === name.toLowerCase() ? 0 : distance(known, name);
    if (away > least) continue;
    isSole = away < least || found === undefined;
    least = away;
    found = known;
  }
  return isSole ? found : undefined;
}

/** Number of letters to add, drop or change to get from one text to the other (Levenshtein distance). */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return Number.POSITIVE_INFINITY;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
