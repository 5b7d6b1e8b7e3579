import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PRODUCT_FOLDERS } from "../support/folders.ts";
import { brokenReferences, comments, missingPaths, wideLines } from "./references.ts";
import { planted, ROOT, readTree } from "./source-tree.ts";

const PLACES = [
  ...PRODUCT_FOLDERS,
  "events",
  "test",
  "docs",
  ".github",
  ...["AGENTS.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "README.md", "SCOPE.md", "SECURITY.md"],
];
const PROJECT = readTree(PLACES, [".ts", ".tsx", ".md", ".go"]);
/** Enough for a planted case: what it may cite. */
const DOCUMENTS = readTree(["docs"], [".md"]);

/** The broken references of a planted file alone. */
const brokenIn = (file: string, text: string): readonly string[] =>
  brokenReferences(planted(DOCUMENTS, { [file]: `${text}\n` })).filter((broken) => broken.startsWith(`${file}:`));

describe("references in comments and documents", () => {
  it("every document and heading that is named exists, and upstream files are named in one form", () => {
    expect(brokenReferences(PROJECT)).toEqual([]);
  });

  it("every file and folder of ours that a document names exists", () => {
    const documents = new Map([...PROJECT].filter(([file]) => file.endsWith(".md")));
    expect(missingPaths(documents, (path) => existsSync(join(ROOT, path)))).toEqual([]);
  });

  it("no comment and no line of a document is wider than 120 columns", () => {
    expect(wideLines(PROJECT)).toEqual([]);
  });
});

describe("the checks of references fail on a planted case", () => {
  it.for([
    ["core/x.ts", "// See scheduling.md."],
    ["core/x.ts", "/** The order of the steps: launch.md §4. */"],
    ["core/x.ts", "// docs/architecture.md §3"],
    ["core/x.ts", '// docs/architecture.md, "No such heading"'],
    ["core/x.ts", "const a = 1; // karpenter's pkg/controllers/disruption/budgets.go"],
    ["core/x.ts", "/**\n * A rule (karpenter:\n * pkg/controllers/disruption/helpers.go). */"],
    ["docs/x.md", "See [this](no-such.md)."],
    ["docs/x.md", "See [this](architecture.md#no-such-heading)."],
  ] as const)("%s: %s", ([file, text]) => {
    expect(brokenIn(file, text)).toHaveLength(1);
  });

  it.for([
    "// docs/architecture.md",
    "/** A rule (karpenter: pkg/controllers/disruption/helpers.go, BuildDisruptionBudgetMapping). */",
    "/**\n * A rule (karpenter: pkg/controllers/disruption/helpers.go,\n * BuildDisruptionBudgetMapping).\n */",
    'const text = "no-such.md §4";',
  ])("a sound reference passes: %s", (text) => {
    expect(brokenIn("core/x.ts", text)).toEqual([]);
  });

  it("a path that does not exist is found, and a placeholder is none", () => {
    const page = "`core/a.ts`, `core/no-such.ts`, `functions/NAME/`, `a.ts`";
    expect(missingPaths(new Map([["docs/x.md", page]]), (path) => path === "core/a.ts")).toEqual([
      "docs/x.md: there is no core/no-such.ts",
    ]);
  });

  it("a wide comment is found, and wide code is not", () => {
    const wide = "x".repeat(120);
    expect(wideLines(new Map(Object.entries({ "core/x.ts": `// ${wide}\nconst ${wide} = 1;\n` })))).toEqual(["core/x.ts:1"]);
  });

  it("comments are read from lines, blocks and ends of lines", () => {
    const text = '/** One\n * two. */\nconst a = "// no"; // three\n// four\n// five\n';
    expect(comments(text).map((comment) => comment.text)).toEqual(["One two.", "three", "four five"]);
  });
});
