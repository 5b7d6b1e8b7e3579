import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { PAGE, speedPage } from "./speed-page.ts";

it("docs/speed.md is what `node test/bench/write-speed.ts` makes of its data now", () => {
  expect(readFileSync(PAGE, "utf8")).toBe(speedPage());
});

it("each row of the data has a cell for each column", () => {
  const data = JSON.parse(readFileSync("docs/data/speed.json", "utf8")) as Readonly<
    Record<string, { readonly columns: readonly string[]; readonly rows: readonly (readonly string[])[] }>
  >;
  const sections = Object.entries(data);
  expect(sections.length).toBeGreaterThan(5);
  for (const [name, { columns, rows }] of sections)
    expect(
      rows.filter(({ length }) => length !== columns.length),
      name,
    ).toEqual([]);
});
