import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");

const { scripts } = JSON.parse(read("package.json")) as { readonly scripts: Readonly<Record<string, string>> };
const documents = ["README.md", "AGENTS.md", "CONTRIBUTING.md", "test/README.md"].map(read).join("\n");

/** Names in `npm run NAME`, `npm run -s NAME`, `npm NAME`; npm's own commands (`npm ci`) are among them. */
const named = (text: string): ReadonlySet<string> =>
  new Set([...text.matchAll(/\bnpm (?:run (?:-s )?)?([a-z][\w:-]*)/g)].map(([, name = ""]) => name));

const unnamed = (names: readonly string[]): readonly string[] => names.filter((name) => !named(documents).has(name));

describe("npm scripts", () => {
  it("every script of package.json is named in README.md, AGENTS.md, CONTRIBUTING.md or test/README.md", () => {
    expect(unnamed(Object.keys(scripts))).toEqual([]);
  });

  it("a script that no document names is found, also where its name begins like that of another", () => {
    expect(unnamed([...Object.keys(scripts), "planted", "bench:planted", "tes"])).toEqual(["planted", "bench:planted", "tes"]);
  });

  it("every `npm run NAME` in these documents is a script of package.json", () => {
    const run = [...documents.matchAll(/\bnpm run (?:-s )?([a-z][\w:-]*)/g)].map(([, name = ""]) => name);
    expect(run.filter((name) => scripts[name] === undefined)).toEqual([]);
  });
});
