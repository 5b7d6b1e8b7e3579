/**
 * Breaks a text between words into lines of at most `width` characters, each with `indent` blanks in front (which
 * count). A word that is longer than a line gets a line of its own.
 */
export function wrap(text: string, width: number, indent = 0): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && indent + line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].map((one) => `${" ".repeat(indent)}${one}`);
}
