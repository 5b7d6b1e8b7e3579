import { existsSync, readdirSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Mutation, mutated } from "./mutation.ts";

const ROOT = join(import.meta.dirname, "../..");
const AREAS = readdirSync(join(import.meta.dirname, "areas"));

it.for([
  { content: "if (a < b) return;", from: "a < b", to: "a <= b", want: "if (a <= b) return;" },
  { content: "cost(1)", from: "1", to: "$&$&", want: "cost($&$&)" },
  { content: "a + a", from: "a", to: "b", want: 2 },
  { content: "a", from: "c", to: "b", want: 0 },
])("breaks $content only where the text stands once", ({ content, from, to, want }) => {
  expect(mutated(content, { from, to })).toBe(want);
});

/** Between two runs of test/mutations/run.ts this test shows a mutation whose text has left the code. */
describe.for(AREAS)("areas/%s", (file) => {
  it("each mutation quotes a text that stands once in the code and leaves code that parses, and its tests exist", async () => {
    const { MUTATIONS } = (await import(`./areas/${file}`)) as { readonly MUTATIONS: readonly Mutation[] };
    expect(new Set(MUTATIONS.map(({ name }) => name)).size).toBe(MUTATIONS.length);
    for (const { name, file: path, from, to, tests } of MUTATIONS) {
      const broken = mutated(readFileSync(join(ROOT, path), "utf8"), { from, to });
      expect(typeof broken, `${name}: how often its text stands in ${path}: ${broken}`).toBe("string");
      expect(() => stripTypeScriptTypes(String(broken), { mode: "strip" }), `${name}: the broken ${path}`).not.toThrow();
      for (const test of tests) expect(existsSync(join(ROOT, test)), `${name}: ${test}`).toBe(true);
    }
  });
});
