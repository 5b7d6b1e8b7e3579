import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..");

function sources(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(folder, name));
}

/** What a file imports: paths from the root for relative imports, names for packages. */
function importsOf(file: string): readonly string[] {
  const text = readFileSync(join(ROOT, file), "utf8");
  return [...text.matchAll(/^\s*(?:import|export)\b[^"';]*?from\s*"([^"]+)"|^\s*import\s*"([^"]+)"|\bimport\(\s*"([^"]+)"/gm)].map(
    ([, a, b, c]) => {
      const name = a ?? b ?? c ?? "";
      return name.startsWith(".") ? relative(ROOT, resolve(ROOT, dirname(file), name)) : name;
    },
  );
}

/** Without I/O, clock, environment or randomness as the core calls them (docs/decisions/libraries.md); biome.json names the same. */
const PURE_PACKAGES = new Set(["smol-toml"]);

describe("imports point inwards", () => {
  it("core imports core, and of packages only those that are pure", () => {
    const strangers = sources("core").flatMap((file) =>
      importsOf(file)
        .filter((name) => !name.startsWith("core/") && !PURE_PACKAGES.has(name))
        .map((name) => `${file}: ${name}`),
    );
    expect(strangers).toEqual([]);
  });

  it("the product imports neither tests nor infrastructure", () => {
    const strangers = sources("functions").flatMap((file) =>
      importsOf(file)
        .filter((name) => /^(test|infra)\//.test(name) && !file.startsWith("lab/"))
        .map((name) => `${file}: ${name}`),
    );
    expect(strangers).toEqual([]);
  });

  it("functions do not import each other: what they share lies beside them, in the core or in adapters", () => {
    const names = ["audit", "notify", "provision", "lifecycle", "interruption", "disruption", "catalog"];
    const strangers = names.flatMap((own) =>
      sources(`functions/${own}`).flatMap((file) =>
        importsOf(file)
          .filter((name) => names.some((other) => other !== own && name.startsWith(`functions/${other}/`)))
          .map((name) => `${file}: ${name}`),
      ),
    );
    expect(strangers).toEqual([]);
  });

  it("the core reads no clock and no chance", () => {
    const impure = sources("core").filter((file) =>
      /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bperformance\.now\(|\bprocess\./.test(readFileSync(join(ROOT, file), "utf8")),
    );
    expect(impure).toEqual([]);
  });
});

describe("the checks can see", () => {
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
      expect(sources("core").flatMap(importsOf)).toContain("node:fs");
    } finally {
      rmSync(leak);
    }
  }, 60_000);
});
