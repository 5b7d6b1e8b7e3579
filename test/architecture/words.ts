import { comments } from "./references.ts";
import type { SourceTree } from "./source-tree.ts";

/** Words of our own dialect, for which plain English or the API has better ones (CONTRIBUTING.md, "English"). */
const WORDS = /\b(?:told|tells?|goes on|go on|stands? for|of those|anew|mend(?:s|ed|ing)?|nobody|somebody|whoever|everybody|who opens)\b/gi;

/** Where a word stands: "core/x.ts:7: told". */
export interface FoundWord {
  readonly place: string;
  readonly text: string;
}

const found = (file: string, { line, text }: Text): readonly FoundWord[] =>
  [...text.matchAll(WORDS)].map(([word]) => ({ place: `${file}:${line}: ${word.toLowerCase()}`, text }));

/** The listed words in comments. */
export const wordsInComments = (tree: SourceTree): readonly FoundWord[] =>
  [...tree].flatMap(([file, source]) => comments(source).flatMap((comment) => found(file, comment)));

/** The listed words in string literals and in the text of the page's elements, which users read. */
export const wordsInTexts = (tree: SourceTree): readonly FoundWord[] =>
  [...tree].flatMap(([file, source]) => [
    ...stringsOf(source).flatMap((text) => found(file, text)),
    ...(file.endsWith(".tsx") ? elementTexts(source).flatMap((text) => found(file, text)) : []),
  ]);

/** The listed words in documents, outside of their blocks of code. */
export const wordsInDocuments = (tree: SourceTree): readonly FoundWord[] =>
  [...tree].flatMap(([file, source]) => {
    let isCode = false;
    return source.split("\n").flatMap((text, i) => {
      if (text.startsWith("```")) isCode = !isCode;
      return isCode ? [] : found(file, { line: i + 1, text });
    });
  });

interface Text {
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

/** One token: a comment, a string, a regular expression after what a value cannot follow, or a character. */
const TOKEN =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|(?<=[(,=:[!&|?{};>]\s*|return\s+)\/(?![/*])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[dgimsuvy]*|[`{}]|[\s\S]/g;

/** The string literals of a source file; of a template the parts between its expressions. */
export function stringsOf(source: string): readonly Text[] {
  const texts: Text[] = [];
  /** For each open brace whether it belongs to a template, and where that template began. */
  const braces: boolean[] = [];
  let line = 1;
  let template: { line: number; text: string } | undefined;
  const end = (): void => {
    if (template !== undefined) texts.push(template);
    template = undefined;
  };
  let at = 0;
  while (at < source.length) {
    if (template !== undefined) {
      const [part = ""] = /^(?:[^`\\$]|\\[\s\S]|\$(?!\{))*/.exec(source.slice(at)) ?? [];
      template.text += part;
      line += part.split("\n").length - 1;
      at += part.length;
      const opens = source.startsWith("${", at);
      end();
      if (opens) braces.push(true);
      at += opens ? 2 : 1;
      continue;
    }
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(source)?.[0] ?? "";
    if (/^["']/.test(token)) texts.push({ line, text: token.slice(1, -1) });
    else if (token === "`") template = { line, text: "" };
    else if (token === "{") braces.push(false);
    else if (token === "}" && braces.pop() === true) template = { line, text: "" };
    line += token.split("\n").length - 1;
    at += Math.max(1, token.length);
  }
  return texts;
}

/** Text between the tags of the page's elements. */
function elementTexts(source: string): readonly Text[] {
  return [...source.matchAll(/>([^<>{}]*[a-z][^<>{}]*)</g)].map(({ 1: text = "", index }) => ({
    line: source.slice(0, index).split("\n").length,
    text,
  }));
}
