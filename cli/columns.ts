import { wrap } from "../core/lib/wrap.ts";

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

/** Where the second column of a line with two begins, and how far continued lines of one column are indented. */
const SECOND_COLUMN = /^ +\S.*? {2,}(?=\S)/;

/**
 * A text with lines of at most `width` characters: what is too long goes on under its own column. A word that has no
 * room there is indented less.
 */
export function fitted(text: string, width = WIDTH): string {
  return text
    .split("\n")
    .flatMap((line) => (line.length <= width ? [line] : broken(line, width)))
    .join("\n");
}

function broken(line: string, width: number): readonly string[] {
  const [head = ""] = SECOND_COLUMN.exec(line) ?? /^ */.exec(line) ?? [];
  const [first = "", ...others] = wrap(line.slice(head.length), width, head.length);
  return [`${head}${first.trimStart()}`, ...others].flatMap((one) => {
    if (one.length <= width) return [one];
    // The words of the first column stay where they are.
    const isFirst = head.trim() !== "" && one.startsWith(head);
    const word = (isFirst ? one.slice(head.length) : one).trimStart();
    return [...(isFirst ? [head.trimEnd()] : []), `${" ".repeat(Math.max(0, width - word.length))}${word}`];
  });
}
