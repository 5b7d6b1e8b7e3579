/** Control characters and those that turn the direction of writing would move the cursor: names may hold any text. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** A text without what a terminal would act on. */
export const plain = (text: string): string => text.replaceAll(UNPRINTABLE, " ");

export const dollars = (perHour: number): string => `$${perHour.toFixed(perHour >= 10 ? 2 : 4)}/h`;

/** "45s", "12m", "3h", "9d"; "?" for what is not known. */
export function age(ms: number): string {
  if (!Number.isFinite(ms)) return "?";
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)}m`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)}h` : `${Math.floor(seconds / 86_400)}d`;
}
