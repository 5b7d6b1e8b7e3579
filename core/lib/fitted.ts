import { wrap } from "./wrap.ts";

/** Where the second column of a line with two begins, and how far continued lines of one column are indented. */
const SECOND_COLUMN = /^ *\S.*? {2,}(?=\S)/;

/**
 * A text with lines of at most `width` characters: what is too long continues under its own column. A word that has no
 * room there is indented less.
 */
export function fitted(text: string, width: number): string {
  return text
    .split("\n")
    .flatMap((line) => (line.length <= width ? [line] : broken(line, width).map((one) => one.trimEnd())))
    .join("\n");
}

function broken(line: string, width: number): readonly string[] {
  const [column = ""] = SECOND_COLUMN.exec(line) ?? [];
  const [blanks = ""] = /^ */.exec(line) ?? [];
  // A first column that leaves no room for a second one is text.
  const head = column !== "" && column.length <= width / 2 ? column : blanks;
  const [first = "", ...others] = wrap(line.slice(head.length), width, head.length);
  return [`${head}${first.trimStart()}`, ...others].flatMap((one) => {
    if (one.length <= width) return [one];
    // The words of the first column stay where they are.
    const isFirst = head.trim() !== "" && one.startsWith(head);
    const word = (isFirst ? one.slice(head.length) : one).trimStart();
    return [...(isFirst ? [head.trimEnd()] : []), `${" ".repeat(Math.max(0, width - word.length))}${word}`];
  });
}
