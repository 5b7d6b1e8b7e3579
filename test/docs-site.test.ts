import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { PAGES } from "../docs/.vitepress/pages.ts";

it("each document is in the sidebar of the site, once, and each entry is a document", () => {
  const files = readdirSync("docs").filter((name) => name.endsWith(".md"));
  const paths = [...files.map((name) => `/${name.slice(0, -3)}`.replace(/^\/index$/, "/")), "/decisions/README"];
  const links = PAGES.flatMap(({ items }) => items.map(({ link }) => link));
  expect(links.toSorted()).toEqual(paths.toSorted());
});

it("docs/index.md links each document", () => {
  const index = readFileSync("docs/index.md", "utf8");
  const files = readdirSync("docs").filter((name) => name.endsWith(".md") && name !== "index.md");
  expect(files.length).toBeGreaterThan(20);
  expect(files.filter((file) => !index.includes(`](${file}`))).toEqual([]);
});

it("each file that a document includes exists", () => {
  const files = readdirSync("docs").filter((name) => name.endsWith(".md"));
  const included = files.flatMap((name) =>
    [...readFileSync(join("docs", name), "utf8").matchAll(/^<<< (\S+)$/gm)].map(([, file = ""]) => file),
  );
  expect(included.length).toBeGreaterThan(10);
  expect(included.filter((file) => !existsSync(join("docs", file)))).toEqual([]);
});
