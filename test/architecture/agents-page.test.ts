import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "./source-tree.ts";

const page = readFileSync(join(ROOT, "AGENTS.md"), "utf8");

/** Folders that tools make, and those whose names begin with a dot. */
const NOT_SOURCES = /^(?:\.|node_modules$|dist$|cdk\.out$)/;

it("the map of AGENTS.md has each top-level folder once, and no other", () => {
  const folders = readdirSync(ROOT, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() && !NOT_SOURCES.test(entry.name) ? [entry.name] : [],
  );
  const mapped = [...page.matchAll(/^\| `([\w-]+)\/` \|/gm)].map(([, name]) => name);
  expect(mapped.toSorted()).toEqual(folders.toSorted());
});

it("AGENTS.md is one page", () => {
  expect(page.split("\n").length).toBeLessThanOrEqual(70);
});
