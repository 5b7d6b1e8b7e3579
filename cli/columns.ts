import { wrap } from "../core/lib/wrap.ts";

/** How wide the lines of explanations are, in characters. */
export const WIDTH = 100;

/** The lines of a text within WIDTH, `indent` blanks included. */
export const wrapped = (text: string, indent = 0): readonly string[] => wrap(text, WIDTH, indent);

/** "Label   text", the text wrapped beside the label. */
export function labelled(label: string, text: string, indent: number): readonly string[] {
  const width = 7;
  const [first = "", ...others] = wrapped(text, indent + width);
  return [`${" ".repeat(indent)}${label.padEnd(width)}${first.trimStart()}`, ...others];
}

/** A price in USD per hour, with as many digits as small prices need. */
export function perHour(price: number): string {
  return `$${price.toFixed(price >= 100 ? 2 : 4)}/h`;
}
