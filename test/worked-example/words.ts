/** "$0.3400": USD per hour with as many digits as tell two plans of the example apart. */
export const dollars = (amount: number): string => `$${amount.toFixed(4)}`;

export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** A Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Markdown with its paragraphs wrapped at 120 columns; headings, tables and code stay as they are. */
export function wrapped(markdown: string): string {
  return markdown
    .split(/(```[\s\S]*?```)/)
    .map((part) => (part.startsWith("```") ? part : part.split("\n\n").map(wrappedBlock).join("\n\n")))
    .join("");
}

function wrappedBlock(block: string): string {
  if (/^\n*[#|]/.test(block)) return block;
  const [, before = "", text = "", after = ""] = /^(\n*)([\s\S]*?)(\n*)$/.exec(block) ?? [];
  const lines: string[] = [];
  for (const word of text.split(/\s+/).filter((one) => one !== "")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= 120) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return `${before}${lines.join("\n")}${after}`;
}
