import { expect, it } from "vitest";
import { readTree } from "./source-tree.ts";

/** Results of pure functions, by the identity of what they were given, for all clusters of a process. */
const MEMOIZED = ["functions/shared/instance-types.ts", "functions/shared/overlaid-types.ts"];

/** A map that a module keeps, unless its type says that it is a constant. */
const KEPT = /^(const \w+(: (?!Readonly)[^=]*)? = new (Weak|Lru)?(Map|Set)\b|let )/m;

it("functions remember nothing in their modules: what a process remembers is in ProcessMemory", () => {
  const files = [...readTree(["functions"], [".ts"])].filter(([, text]) => KEPT.test(text)).map(([file]) => file);
  expect(files.sort()).toEqual(MEMOIZED);
});

it.for([
  { text: "const seen = new WeakMap<object, number>();", isKept: true },
  { text: "let last = 0;", isKept: true },
  { text: "const known: Map<string, number> = new Map();", isKept: true },
  { text: 'const KINDS: ReadonlySet<string> = new Set(["Pod"]);', isKept: false },
  { text: "  const byName = new Map();", isKept: false },
])("$text is kept: $isKept", ({ text, isKept }) => {
  expect(KEPT.test(text)).toBe(isKept);
});
