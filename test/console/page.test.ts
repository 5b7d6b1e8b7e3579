import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { buildPage } from "#console/build.ts";
import { amount, duration, elapsed, money, price } from "#console/page/format.ts";
import { search, sorted } from "#console/page/query.ts";
import { formatRoute, parseRoute } from "#console/page/route-text.ts";
import { readTree } from "../architecture/source-tree.ts";

interface Row {
  readonly name: string;
  readonly pool: string;
  readonly cpu: number;
}
const FIELDS = [
  { key: "name", value: ({ name }: Row) => name },
  { key: "pool", value: ({ pool }: Row) => pool },
  { key: "cpu", value: ({ cpu }: Row) => cpu },
];
const ROWS: readonly Row[] = [
  { name: "n10", pool: "gpu", cpu: 80 },
  { name: "n2", pool: "default", cpu: 20 },
  { name: "default-7", pool: "spot", cpu: 50 },
];

describe("the search of a table", () => {
  it.for([
    { query: "", want: ["n10", "n2", "default-7"] },
    { query: "DEFAULT", want: ["n2", "default-7"] },
    { query: "pool:default", want: ["n2"] },
    { query: "cpu>30 -pool:gpu", want: ["default-7"] },
    { query: "cpu<30", want: ["n2"] },
    { query: "n2 def", want: ["n2"] },
    { query: "constructor:x", want: [] },
    { query: "cpu>many", want: [] },
    { query: "(", want: [] },
    { query: "-", want: ["default-7"] },
  ])("$query finds $want", ({ query, want }) => {
    expect(search(ROWS, FIELDS, query).map(({ name }) => name)).toEqual(want);
  });

  it.for([
    { order: "name", want: ["default-7", "n2", "n10"] },
    { order: "-cpu", want: ["n10", "default-7", "n2"] },
    { order: "cpu", want: ["n2", "default-7", "n10"] },
    { order: "unknown", want: ["n10", "n2", "default-7"] },
  ])("the order $order is $want", ({ order, want }) => {
    expect(sorted(ROWS, FIELDS, order).map(({ name }) => name)).toEqual(want);
  });
});

describe("deep links", () => {
  it("a route survives its URL, whatever the search holds", () => {
    const route = { section: "pods", params: { q: "a&b=c #<img> 100%", node: "ip-10-0-0-1" } };
    expect(parseRoute(formatRoute(route))).toEqual(route);
  });

  it("an empty parameter is left out", () => {
    expect(formatRoute({ section: "nodes", params: { q: "", sort: "-cpu" } })).toBe("#nodes?sort=-cpu");
    expect(parseRoute("")).toEqual({ section: "", params: {} });
  });
});

it.for([
  [money(0.096), "$0.0960"],
  [money(1.5), "$1.500"],
  [money(624.1834), "$624.18"],
  [money(12_345.6), "$12,346"],
  [money(-0.2), "−$0.2000"],
  [price(0), "–"],
  [duration(45_000), "45s"],
  [duration(725_000), "12m"],
  [duration(11_100_000), "3h 5m"],
  [duration(Number.NaN), ""],
  [duration(-5), "0s"],
  [elapsed(65_000), "+01:05"],
  [elapsed(7_800_000), "+2:10:00"],
  [amount(3.919, "cpu"), "3.92"],
  [amount(6_211_764_224, "memory"), "5.8 GiB"],
  [amount(118, "pods"), "118"],
] as const)("%s is what a reader sees: %s", ([text, want]) => {
  expect(text).toBe(want);
});

it("the page's script has at most 120 KB", async () => {
  const { files } = await buildPage();
  const { length = 0 } = files.get("page.js") ?? {};
  expect(length).toBeGreaterThan(20_000);
  expect(length).toBeLessThanOrEqual(120 * 1024);
  expect(readFileSync("docs/view.md", "utf8")).toContain(`, ${Math.round(length / 1_000)} kB unpacked.`);
  expect([...files.keys()].sort()).toEqual(["index.html", "page.css", "page.js"]);
});

it("the page makes HTML of no text", () => {
  const sources = readTree(["console/page"], [".ts", ".tsx"]);
  const makesHtml = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/i;
  expect([...sources].flatMap(([file, text]) => (makesHtml.test(text) ? [file] : []))).toEqual([]);
  expect(makesHtml.test('<p dangerouslySetInnerHTML={{ __html: "x" }} />')).toBe(true);
});
