import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { sourceOf } from "../support/patched-tree.ts";

/** The rows of the table: the input, what happened, what happens now, and the file and name of the test. */
const ROWS = readFileSync(join(import.meta.dirname, "README.md"), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| ") && !/^\| (---|what comes in)/.test(line))
  .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()));

it("each case that was seen names a test that exists", () => {
  expect(ROWS.length).toBeGreaterThan(40);
  for (const [, input, , , held = ""] of ROWS) {
    const [, file = "", name = ""] = /^`([^`]+)`: (.+)$/.exec(held) ?? [];
    expect({ input, held, isThere: name !== "" && sourceOf(file).includes(name) }).toEqual({ input, held, isThere: true });
  }
});
