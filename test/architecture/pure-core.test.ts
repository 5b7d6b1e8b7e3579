import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { importsOf, ROOT, readTree, type SourceTree } from "./source-tree.ts";

/** Files of the core that read the clock, chance or the process. */
function impure(tree: SourceTree): readonly string[] {
  const reads = /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bperformance\.now\(|\bprocess\./;
  return [...tree].flatMap(([file, text]) => (reads.test(text) ? [file] : []));
}

describe("the core is pure", () => {
  it("the core reads no clock and no chance", () => {
    expect(impure(readTree(["core"]))).toEqual([]);
    expect(impure(new Map([["core/x.ts", "export const now = Date.now();"]]))).toEqual(["core/x.ts"]);
  });

  it("the compiler and the linter refuse a core that reaches out", () => {
    const leak = join(ROOT, "core", "leak.ts");
    writeFileSync(leak, 'import { readFileSync } from "node:fs";\n\nexport const leak = readFileSync("x");\n');
    try {
      const run = (tool: string, ...args: readonly string[]): boolean => {
        try {
          execFileSync(join(ROOT, "node_modules", ".bin", tool), [...args], { cwd: ROOT, stdio: "pipe" });
          return true;
        } catch {
          return false;
        }
      };
      expect(run("tsc", "-p", "core")).toBe(false);
      // Other rules read the whole project first.
      expect(run("biome", "lint", "--only=style/noRestrictedImports", leak)).toBe(false);
      expect(importsOf(readTree(["core"]), "core/leak.ts")).toEqual(["node:fs"]);
    } finally {
      rmSync(leak);
    }
  }, 60_000);
});
