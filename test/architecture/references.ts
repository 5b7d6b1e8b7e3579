import { dirname, join, normalize } from "node:path";
import { PRODUCT_FOLDERS } from "../support/folders.ts";
import type { SourceTree } from "./source-tree.ts";

/** The one form of a reference to upstream: (repository: path, Symbol). CONTRIBUTING.md names it. */
const UPSTREAM = /\((karpenter|karpenter-provider-aws|kubernetes|autoscaler): ([\w./-]+\.(?:go|yaml)), ([\w.]+)\)/g;
const UPSTREAM_FILE = /[\w./-]+\.go\b/g;
const DOCUMENT = /(?<![\w/.-])((?:[\w.-]+\/)*[\w.-]+\.md)(#[\w-]+)?(?:, "([^"]+)")?(\s*§)?/g;
const MAX_WIDTH = 120;
/** It is made of the citations, each of which is checked where it stands. */
const TABLE_OF_CITATIONS = "docs/from-karpenter.md";

interface Comment {
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

/**
 * The comments of a source file; lines of one comment, and line comments that follow each other, are joined by a space.
 */
export function comments(source: string): readonly Comment[] {
  const found: { line: number; text: string; isOpen: boolean }[] = [];
  let isBlock = false;
  source.split("\n").forEach((line, index) => {
    const last = found.at(-1);
    const starts = !isBlock && /^\s*\/\*/.test(line);
    if (starts || isBlock) {
      const ends = line.includes("*/");
      const text = line
        .replace(/^\s*(\/\*\*?|\*(?!\/))?/, "")
        .replace(/\*\/.*$/, "")
        .trim();
      if (starts) found.push({ line: index + 1, text, isOpen: false });
      else if (last !== undefined) last.text = `${last.text} ${text}`.trim();
      isBlock = !ends;
      return;
    }
    const own = /^\s*\/\/ ?(.*)$/.exec(line)?.[1];
    // An even number of quotation marks before it: the comment is none inside a text.
    const trailing = own === undefined ? /^(?:[^"`]|"[^"]*"|`[^`]*`)*[;,{}()\]]\s+\/\/ (.*)$/.exec(line)?.[1] : undefined;
    if (own !== undefined && last?.isOpen === true) last.text = `${last.text} ${own}`;
    else if (own !== undefined || trailing !== undefined)
      found.push({ line: index + 1, text: own ?? trailing ?? "", isOpen: own !== undefined });
    if (own === undefined && last !== undefined) last.isOpen = false;
  });
  return found;
}

const slug = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

function headingsOf(text: string): readonly string[] {
  return [...text.matchAll(/^#+ +(.+?) *$/gm)].map(([, heading]) => (heading ?? "").replaceAll("`", ""));
}

/**
 * Names of documents that do not exist, headings that they do not have, and upstream files that are not named in the
 * one form.
 */
export function brokenReferences(tree: SourceTree): readonly string[] {
  return [...tree].flatMap(([file, source]) => {
    const isDocument = file.endsWith(".md");
    const texts = isDocument ? [{ line: 1, text: source.replace(/```[\s\S]*?```/g, "") }] : comments(source);
    return texts.flatMap(({ line, text }) => [
      ...deadDocuments(tree, file, text).map((name) => `${file}:${line}: ${name}`),
      ...(file.endsWith(".go") || file === TABLE_OF_CITATIONS
        ? []
        : strayUpstream(tree, text).map((name) => `${file}:${line}: ${name} is not (repository: path, Symbol)`)),
    ]);
  });
}

/** Paths of ours in a document's backticks, from the root; those with a placeholder in capitals are none. */
const PATH = new RegExp(`\`((?:${[...PRODUCT_FOLDERS, "events", "test", "docs"].join("|")})/[\\w./-]*[\\w/])\``, "g");
const PLACEHOLDER = /[A-Z]{3,}\//;

/** Files and folders that documents name and that do not exist, from the root or from `test/` in its README. */
export function missingPaths(tree: SourceTree, exists: (path: string) => boolean): readonly string[] {
  return [...tree].flatMap(([file, text]) =>
    [...text.matchAll(PATH)].flatMap(([, path = ""]) =>
      PLACEHOLDER.test(path) || (file === TABLE_OF_CITATIONS && path.endsWith(".go")) || exists(path) || exists(join(dirname(file), path))
        ? []
        : [`${file}: there is no ${path}`],
    ),
  );
}

/** A symbol of upstream that a comment of ours names. */
export interface Citation {
  readonly repository: string;
  /** Path of the cited file in its repository. */
  readonly path: string;
  readonly symbol: string;
  /** Path of our file from the root. */
  readonly file: string;
}

/** Every citation of upstream in the comments of a tree. */
export function citationsOf(tree: SourceTree): readonly Citation[] {
  return [...tree].flatMap(([file, source]) =>
    comments(source).flatMap(({ text }) =>
      [...text.matchAll(UPSTREAM)].map(([, repository = "", path = "", symbol = ""]) => ({ repository, path, symbol, file })),
    ),
  );
}

function deadDocuments(tree: SourceTree, file: string, text: string): readonly string[] {
  return [...text.matchAll(DOCUMENT)].flatMap(([, name = "", anchor, heading, section]) => {
    if (section !== undefined) return [`${name} is cited by a section sign; name a heading in quotation marks`];
    const target = [name, normalize(join(dirname(file), name))].find((path) => tree.has(path));
    if (target === undefined) return [`there is no ${name}`];
    const headings = headingsOf(tree.get(target) ?? "");
    if (heading !== undefined && !headings.includes(heading)) return [`${target} has no heading "${heading}"`];
    if (anchor !== undefined && !headings.some((one) => `#${slug(one)}` === anchor)) return [`${target} has no heading ${anchor}`];
    return [];
  });
}

function strayUpstream(tree: SourceTree, text: string): readonly string[] {
  const stray = [...text.replace(UPSTREAM, "").matchAll(UPSTREAM_FILE)].map(([name]) => name);
  return stray.filter((name) => ![...tree.keys()].some((path) => path === name || path.endsWith(`/${name}`)));
}

/** Comment lines, and lines of documents outside tables and code, that are wider than 120 columns. */
export function wideLines(tree: SourceTree): readonly string[] {
  return [...tree].flatMap(([file, source]) => {
    if (file.endsWith(".go")) return [];
    let isCode = false;
    return source.split("\n").flatMap((line, index) => {
      if (file.endsWith(".md") && line.startsWith("```")) isCode = !isCode;
      const isText = file.endsWith(".md") ? !isCode && !line.startsWith("|") : /^\s*(\/\/|\/\*|\*[ /])/.test(line);
      return isText && line.length > MAX_WIDTH ? [`${file}:${index + 1}`] : [];
    });
  });
}
