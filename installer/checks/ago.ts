const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
] as const;

/** A time span in the largest unit that it holds twice: "90 s", "3 min", "2 d". Clocks may differ a little. */
export function span(ms: number): string {
  const [name, length] = UNITS.find(([, length]) => ms >= 2 * length) ?? ["s", 1_000];
  return `${Math.max(0, Math.floor(ms / length))} ${name}`;
}

export const ago = (at: number, now: number): string => `${span(now - at)} ago`;
