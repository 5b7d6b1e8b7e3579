import { fitted as fittedTo } from "#core/lib/fitted.ts";
import { wrap } from "#core/lib/wrap.ts";

/** The width of lines that no terminal shows: a pipe, a file. */
const PLAIN_WIDTH = 100;
/** Narrower than this nothing is readable, and wider than this a line is hard to follow. */
const [NARROWEST, WIDEST] = [60, 140];

/** How wide the lines are on a stream: as its terminal, within limits. */
export function widthOf({ isTTY = false, columns }: { readonly isTTY?: boolean; readonly columns?: number }): number {
  return isTTY && columns !== undefined ? Math.min(WIDEST, Math.max(NARROWEST, columns)) : PLAIN_WIDTH;
}

/** How wide the lines of explanations are, in characters. */
export const WIDTH = widthOf(process.stdout);

/** The lines of a text within WIDTH, `indent` blanks included. */
export const wrapped = (text: string, indent = 0): readonly string[] => wrap(text, WIDTH, indent);

/** "Label   text", the text wrapped beside the label. */
export function labelled(label: string, text: string, indent: number): readonly string[] {
  const width = 7;
  const [first = "", ...others] = wrapped(text, indent + width);
  return [`${" ".repeat(indent)}${label.padEnd(width)}${first.trimStart()}`, ...others];
}

/** A text whose lines fit the terminal. */
export const fitted = (text: string, width = WIDTH): string => fittedTo(text, width);
