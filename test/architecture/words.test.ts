import { describe, expect, it } from "vitest";
import { PRODUCT_FOLDERS } from "../support/folders.ts";
import { planted, readTree } from "./source-tree.ts";
import { stringsOf, wordsInComments, wordsInDocuments, wordsInTexts } from "./words.ts";

const PRODUCT = readTree(PRODUCT_FOLDERS, [".ts", ".tsx"]);
/** CONTRIBUTING.md lists the words, and records of decisions keep the words of their day. */
const DOCUMENTS = new Map(
  [...readTree(["docs", "AGENTS.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "README.md", "SCOPE.md", "SECURITY.md"], [".md"])].filter(
    ([file]) => !file.startsWith("docs/decisions/"),
  ),
);

/** The listed words in comments of the product. The number may only fall: lower it whenever some are gone. */
const IN_COMMENTS = 12;

describe("words that CONTRIBUTING.md replaces", () => {
  it("no text that a user reads has one", () => {
    expect(wordsInTexts(PRODUCT).map(({ place }) => place)).toEqual([]);
  });

  it("no document has one", () => {
    expect(DOCUMENTS.size).toBeGreaterThan(25);
    expect(wordsInDocuments(DOCUMENTS).map(({ place }) => place)).toEqual([]);
  });

  it("comments have as many as the number kept here, which may only fall", () => {
    const places = wordsInComments(PRODUCT).map(({ place }) => place);
    expect(places.length, `IN_COMMENTS is ${IN_COMMENTS}; lower it, or reword:\n${places.join("\n")}`).toBe(IN_COMMENTS);
  });
});

describe("the count of words fails on a planted case", () => {
  it.for([
    { where: "a string", source: 'export const text = "mend what is marked";', word: "mend" },
    { where: "a template around expressions", source: ["const x = `a $", "{f({ b: `$", "{c}` })} goes on`;"].join(""), word: "goes on" },
    { where: "a string after a regular expression", source: 'const x = /["`]/.test(a) ? "b" : "told";', word: "told" },
    { where: "a string after a division", source: 'const x = a / 2; const y = "somebody"; const z = b / 3;', word: "somebody" },
  ])("in $where", ({ source, word }) => {
    const found = wordsInTexts(planted(new Map(), { "core/x.ts": source }));
    expect(found.map(({ place }) => place)).toEqual([`core/x.ts:1: ${word}`]);
  });

  it("in the text of an element of the page", () => {
    const source = "export const A = () => <p>\n  Nobody is here\n</p>;";
    expect(wordsInTexts(planted(new Map(), { "console/page/a.tsx": source })).map(({ place }) => place)).toEqual([
      "console/page/a.tsx:1: nobody",
    ]);
  });

  it("in a comment, of which a string is none", () => {
    const tree = planted(new Map(), { "core/x.ts": '// It stands for all.\nconst a = "stands for";\n' });
    expect(wordsInComments(tree).map(({ place }) => place)).toEqual(["core/x.ts:1: stands for"]);
  });

  it("in a document, of which a block of code is none", () => {
    const tree = planted(new Map(), { "docs/x.md": "It is told.\n```sh\nmend\n```\n" });
    expect(wordsInDocuments(tree).map(({ place }) => place)).toEqual(["docs/x.md:1: told"]);
  });

  it("strings are found wherever they stand in the product", () => {
    const source = ["const a = 'b'; // \"c\"\n/* `d` */ f(`e$", '{"g"}h`);'].join("");
    expect(stringsOf(source).map(({ text }) => text)).toEqual(["b", "e", "g", "h"]);
    expect([...PRODUCT].flatMap(([, file]) => stringsOf(file)).length).toBeGreaterThan(10_000);
  });
});
