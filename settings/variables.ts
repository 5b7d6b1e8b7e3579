import * as z from "zod/mini";
import { parseDuration } from "#core/lib/duration.ts";

/**
 * What a variable's text means, or what is wrong with the text: the rest of a sentence that begins with the variable's
 * name.
 */
export type Read<T> = { readonly value: T } | { readonly problem: string };

/** Reads the text of an environment variable. */
export type Reader<T> = (text: string) => Read<T>;

/** The schema of a variable: `fallback` is read in place of a variable that is not set or empty. */
export function variable<T>(read: Reader<T>, fallback: string) {
  return z.pipe(
    z._default(z.string(), ""),
    z.transform((text: string, context): T => {
      const result = read(text === "" ? fallback : text);
      if ("value" in result) return result.value;
      context.issues.push({ code: "custom", input: text, message: result.problem });
      return z.NEVER;
    }),
  );
}

/** The schema of a variable that may be absent: undefined when it is not set or empty. */
export function optionalVariable<T>(read: Reader<T>) {
  return variable<T | undefined>((text) => (text === "" ? { value: undefined } : read(text)), "");
}

/** A reader of values that one phrase describes; undefined from `read` means that the text is not such a value. */
export function readerOf<T>(wanted: string, read: (text: string) => T | undefined): Reader<T> {
  return (text) => {
    const value = read(text);
    return value === undefined ? { problem: `set it to ${wanted}, not ${JSON.stringify(text)}` } : { value };
  };
}

export const matching = (wanted: string, pattern: RegExp) => readerOf(wanted, (text) => (pattern.test(text) ? text : undefined));

export const oneOf = <const T extends readonly string[]>(...values: T) =>
  readerOf<T[number]>(values.join(" or "), (text) => values.find((value) => value === text));

const numberFrom = (least: number, text: string): number | undefined => {
  const value = Number(text);
  return text.trim() !== "" && Number.isFinite(value) && value >= least ? value : undefined;
};

export const numberOf = (least: number) => readerOf(`a number of ${least} or more`, (text) => numberFrom(least, text));

export const wholeNumberOf = (least: number) =>
  readerOf(`a whole number of ${least} or more`, (text) => {
    const value = numberFrom(least, text);
    return Number.isInteger(value) ? value : undefined;
  });

/** A whole number of at least so much, or undefined for "none". */
export const wholeNumberOrNone =
  (least: number): Reader<number | undefined> =>
  (text) =>
    text === "none" ? { value: undefined } : wholeNumberOrNoneOf(least)(text);

const wholeNumberOrNoneOf = (least: number) =>
  readerOf(`a whole number of ${least} or more, or none`, (text) => {
    const value = numberFrom(least, text);
    return Number.isInteger(value) ? value : undefined;
  });

export const bool = readerOf("true or false", (text) => (text === "true" || text === "false" ? text === "true" : undefined));

/** Milliseconds of a Go duration within bounds, which are Go durations too. */
export const duration = (least: string, most: string) =>
  readerOf(`a duration from ${least} to ${most}, such as 1m30s`, (text) => {
    const ms = parseDuration(text) ?? Number.NaN;
    return ms >= (parseDuration(least) ?? 0) && ms <= (parseDuration(most) ?? 0) ? ms : undefined;
  });

const aboveZero = readerOf('a duration above 0 such as 24h or 1h30m, or "none"', (text) => {
  const ms = parseDuration(text);
  return ms !== undefined && ms > 0 ? { ms } : undefined;
});

/** Milliseconds of a Go duration above 0; undefined for the word "none". */
export const durationOrNone: Reader<number | undefined> = (text) => {
  if (text === "none") return { value: undefined };
  const result = aboveZero(text);
  return "value" in result ? { value: result.value.ms } : result;
};
