import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "./source-tree.ts";

it("each difference from Karpenter names tests, and each of them is a file", () => {
  const page = readFileSync(join(ROOT, "docs/differences.md"), "utf8");
  const rows = page.split("\n").filter((line) => /^\| (?!topic |---)/.test(line));
  const tests = rows.map((row) => [...(row.split(" | ").at(-1) ?? "").matchAll(/`([^`]+\.test\.ts)`/g)].map(([, file = ""]) => file));
  expect(rows.length).toBeGreaterThan(40);
  expect(rows.filter((_, i) => tests[i]?.length === 0)).toEqual([]);
  expect(tests.flat().filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});
