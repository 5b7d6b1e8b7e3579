import { readdirSync, readFileSync } from "node:fs";

// What documents tell people to type.

/** Every page that may tell a person what to type. */
const PAGES = ["README.md", ...readdirSync("docs").flatMap((name) => (name.endsWith(".md") ? [`docs/${name}`] : []))];

export interface Written {
  readonly page: string;
  /** A whole command line, of one line, without its comment. */
  readonly line: string;
}

/** The runbook has its commands within sentences. */
const RUNBOOK = "docs/operate.md";
const INLINE = /`((?:kubectl|aws|karpenter-serverless) [^`\n]+)`/g;

/** A line that is continued after a backslash or within a quoted text is one. */
function linesOf(block: string): readonly string[] {
  const lines: string[] = [];
  let begun = "";
  for (const line of block.replaceAll("\\\n", " ").split("\n")) {
    begun = begun === "" ? line : `${begun}\n${line}`;
    if ((begun.match(/'/g) ?? []).length % 2 === 1 && !/^[^']*#[^']*'/.test(begun)) continue;
    lines.push(begun);
    begun = "";
  }
  return lines;
}

const plain = (line: string): string =>
  line
    .replace(/(^|\s)#\s.*$/, "")
    .replaceAll(/[ \t]+/g, " ")
    .trim();

function linesOfPage(page: string): readonly Written[] {
  const text = readFileSync(page, "utf8");
  const blocks = [...text.matchAll(/^ *```sh\n([\s\S]*?)^ *```$/gm)].flatMap(([, block = ""]) => linesOf(block));
  const inline = page === RUNBOOK ? [...text.matchAll(INLINE)].map(([, command = ""]) => command) : [];
  return [...blocks, ...inline]
    .map(plain)
    .filter((line) => line !== "")
    .map((line) => ({ page, line }));
}

/** All command lines of all pages, each once for a page. */
export const DOCUMENTED: readonly Written[] = PAGES.flatMap((page) => {
  const seen = new Set<string>();
  return linesOfPage(page).filter(({ line }) => !seen.has(line) && seen.add(line));
});

/** The commands of a line, which pipes and the like join. A text in quotes is one word, as in a shell. */
export function commandsOf(line: string): readonly (readonly string[])[] {
  const commands: string[][] = [[]];
  const words = line.match(/(?:'[^']*'|"[^"]*"|\S)+/g) ?? [];
  for (const [i, word] of words.entries()) {
    if (["|", "&&"].includes(word)) commands.push([]);
    else if (word !== ">" && words[i - 1] !== ">") commands.at(-1)?.push(word.replaceAll(/'([^']*)'|"([^"]*)"/g, "$1$2"));
  }
  return commands;
}
