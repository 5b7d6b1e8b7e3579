import { expect, it } from "vitest";
import { readTree } from "./source-tree.ts";

/** Lines of a page. */
const MAX_LINES = 60;

it("a record of a decision has at most one page", () => {
  const records = [...readTree(["docs/decisions"], [".md"])].filter(([file]) => /\/\d{4}-[^/]*$/.test(file));
  expect(records.length).toBeGreaterThan(20);
  expect(records.filter(([, text]) => text.trimEnd().split("\n").length > MAX_LINES).map(([file]) => file)).toEqual([]);
});
