/** "$0.0960", "$1.25", "$624": as many digits as a price needs. */
export function money(amount: number): string {
  const size = Math.abs(amount);
  if (size === 0) return "$0";
  const digits = size >= 1_000 ? 0 : size >= 10 ? 2 : size >= 1 ? 3 : 4;
  return `${amount < 0 ? "−" : ""}$${size.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

/** A price that may be unknown, which the data have as 0. */
export const price = (perHour: number): string => (perHour === 0 ? "–" : money(perHour));

const HOURS_A_MONTH = 730;

/** "$70 a month". */
export function monthly(perHour: number): string {
  return `$${Math.round(perHour * HOURS_A_MONTH).toLocaleString("en-US")} a month`;
}

const UNITS: readonly (readonly [string, number])[] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
];

/** "45s", "12m", "3h 5m", "9d"; empty for what is not known. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return "";
  const rest = Math.max(0, ms);
  const first = UNITS.findIndex(([, size]) => rest >= size);
  const [unit, size] = UNITS[first] ?? ["s", 1_000];
  const whole = Math.floor(rest / size);
  const [nextUnit, nextSize] = UNITS[first + 1] ?? ["", 0];
  const next = nextSize > 0 && whole < 10 ? Math.floor((rest % size) / nextSize) : 0;
  return `${whole}${unit}${next > 0 ? ` ${next}${nextUnit}` : ""}`;
}

/** "+01:05", "+2:10:00": since the start of a story. */
export function elapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const two = (n: number): string => String(n).padStart(2, "0");
  const hours = Math.floor(seconds / 3_600);
  return `+${hours > 0 ? `${hours}:` : ""}${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

const BYTES: readonly (readonly [string, number])[] = [
  ["TiB", 2 ** 40],
  ["GiB", 2 ** 30],
  ["MiB", 2 ** 20],
  ["KiB", 2 ** 10],
];

const isBytes = (resource: string): boolean => /^(memory|ephemeral-storage|hugepages-.*)$/.test(resource);

/** "3.92", "5.8 GiB", "118": an amount of a resource. */
export function amount(value: number, resource: string): string {
  if (!isBytes(resource)) return String(Math.round(value * 100) / 100);
  const [unit, size] = BYTES.find(([, bytes]) => value >= bytes) ?? ["B", 1];
  const scaled = value / size;
  return `${scaled >= 100 ? Math.round(scaled) : Math.round(scaled * 10) / 10} ${unit}`;
}

/** "1 node", "2 nodes". */
export const counted = (n: number, noun: string): string => `${n.toLocaleString("en-US")} ${noun}${n === 1 ? "" : "s"}`;

export const percent = (share: number): string => `${Math.round(share * 100)}%`;

/** "14:05:09" of this machine's clock. */
export const clock = (at: number): string => new Date(at).toLocaleTimeString("en-GB");

/** "25 Nov 14:05" of this machine's clock. */
export const dated = (at: number): string =>
  `${new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "short" })} ${new Date(at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })}`;
