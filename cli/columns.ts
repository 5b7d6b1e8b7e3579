/** Texts for a terminal: how wide lines of explanations are, in characters. */
export const WIDTH = 100;

/** Breaks a text between words so that each line, `indent` blanks included, stays within WIDTH; a word that is longer keeps a line for itself. */
export function wrapped(text: string, indent = 0): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && indent + line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].map((one) => `${" ".repeat(indent)}${one}`);
}

/** "Label   text", the text wrapped beside the label. */
export function labelled(label: string, text: string, indent: number): readonly string[] {
  const width = 7;
  const [first = "", ...others] = wrapped(text, indent + width);
  return [`${" ".repeat(indent)}${label.padEnd(width)}${first.trimStart()}`, ...others];
}

/** USD per hour with as many digits as small prices need. */
export function perHour(price: number): string {
  return `$${price.toFixed(price >= 100 ? 2 : 4)}/h`;
}
