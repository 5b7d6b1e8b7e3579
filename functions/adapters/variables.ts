import * as z from "zod/mini";
import { parseDuration } from "../../core/lib/duration.ts";

/** Readers of environment variables (config.ts): each has a default, takes an empty text for none, and refuses a bad one with a sentence. */

/** A variable with a default, whose text `read` turns into a value; undefined from `read` means that the text is bad. */
export function setting<T>(fallback: T, wanted: string, read: (text: string) => T | undefined) {
  return z.pipe(
    z._default(z.string(), ""),
    z.transform((text: string, context) => {
      if (text === "") {
        return fallback;
      }
      const value = read(text);
      if (value === undefined) {
        context.issues.push({ code: "custom", input: text, message: `set it to ${wanted}, not ${JSON.stringify(text)}` });
        return z.NEVER;
      }
      return value;
    }),
  );
}

export const oneOf = <const T extends readonly string[]>(values: T, fallback: T[number]) =>
  setting<T[number]>(fallback, values.join(" or "), (text) => values.find((value) => value === text));

/** A number with a least value. */
export const atLeast = (least: number, fallback: number, whole: boolean) =>
  setting(fallback, `a ${whole ? "whole " : ""}number of ${least} or more`, (text) => {
    const value = Number(text);
    return text.trim() !== "" && Number.isFinite(value) && value >= least && (!whole || Number.isInteger(value)) ? value : undefined;
  });

export const bool = (fallback: boolean) =>
  setting(fallback, "true or false", (text) => (text === "true" || text === "false" ? text === "true" : undefined));

/** Milliseconds of a Go duration within bounds that are written likewise. */
export const duration = (fallbackMs: number, least: string, most: string) =>
  setting(fallbackMs, `a duration from ${least} to ${most}, such as 1m30s`, (text) => {
    const ms = parseDuration(text) ?? Number.NaN;
    return ms >= (parseDuration(least) ?? 0) && ms <= (parseDuration(most) ?? 0) ? ms : undefined;
  });

/** Milliseconds of a Go duration above 0; undefined for the word "none". In a wrapper, since undefined from `read` means that the text is bad. */
export const durationOrNone = (fallbackMs: number) =>
  z.pipe(
    setting<{ readonly ms: number | undefined }>({ ms: fallbackMs }, 'a duration above 0 such as 24h or 1h30m, or "none"', (text) => {
      if (text === "none") return { ms: undefined };
      const ms = parseDuration(text);
      return ms !== undefined && ms > 0 ? { ms } : undefined;
    }),
    z.transform(({ ms }: { readonly ms: number | undefined }) => ms),
  );
