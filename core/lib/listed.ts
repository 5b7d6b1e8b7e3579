/** "a, b and c"; names past `max` are counted: "a, b and 7 more". */
export function listed(names: readonly string[], max = 8): string {
  const shown = names.length <= max + 1 ? names : [...names.slice(0, max), `${names.length - max} more`];
  return shown.length < 2 ? (shown[0] ?? "none") : `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`;
}
