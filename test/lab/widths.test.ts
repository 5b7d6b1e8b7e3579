import { readFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { labHelp, runLab, shown } from "#lab/lab.ts";
import { renderEntry, renderTable } from "#lab/render.ts";

/** What the lab prints on a terminal of so many columns, or in a pipe. */
async function printedOn(columns: number | undefined, args: readonly string[]): Promise<readonly string[]> {
  const { stdout } = process;
  const [write, isTTY, width] = [stdout.write, stdout.isTTY, stdout.columns];
  let text = "";
  const keep = (more: string): boolean => {
    text += more;
    return true;
  };
  Object.assign(stdout, { write: keep, isTTY: columns !== undefined, columns });
  try {
    await runLab(args);
  } finally {
    Object.assign(stdout, { write, isTTY, columns: width });
  }
  return text.split("\n").map(stripVTControlCharacters);
}

const widest = (lines: readonly string[]): number => Math.max(...lines.map(({ length }) => length));
const OWN = ["docs/examples/recipes/spot.yaml", "docs/examples/recipes/headroom.yaml", "--scale", "worker=2"];

describe("a terminal", () => {
  it.for([60, 100])("of %i columns has room for each line of a story, of one's own manifests and of --help", async (columns) => {
    for (const story of ["inflate", "replace"]) expect(widest(await printedOn(columns, [story]))).toBeLessThanOrEqual(columns);
    expect(widest(await printedOn(columns, OWN))).toBeLessThanOrEqual(columns);
    expect(widest(labHelp(columns).split("\n"))).toBeLessThanOrEqual(columns);
  });

  it("of 200 columns shows lines of 120", async () => {
    expect(widest(await printedOn(200, ["inflate"]))).toBe(120);
  });
});

it("a pipe gets sentences and rows in one line each", async () => {
  const lines = await printedOn(undefined, ["inflate"]);
  expect(lines.filter((line) => line.startsWith("The real handlers") && line.endsWith("(spot prices are made up)."))).toHaveLength(1);
  expect(lines.filter((line) => /^default-\w+ .*compute\.internal +True/.test(line))).toHaveLength(1);
});

it("README.md shows lines of the first story as a pipe gets them", async () => {
  const [, sample = ""] = /\n```\n(\+\d\d:\d\d [\s\S]*?)\n```\n/.exec(readFileSync("README.md", "utf8")) ?? [];
  const printed = await printedOn(undefined, ["inflate"]);
  const places = sample.split("\n").map((line) => printed.indexOf(line));
  expect(places.length).toBeGreaterThan(4);
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
});

it("no word of the story is lost on a narrow terminal", async () => {
  const words = async (columns: number | undefined) => (await printedOn(columns, ["replace"])).join(" ").split(/\s+/).toSorted();
  expect(await words(84)).toEqual(await words(undefined));
});

it("a row that has no room goes on below, under its own headings", () => {
  const rows = [["web-1234", "m5.large", "ip-10-0-59-94.us-west-2.compute.internal", "True"]];
  expect(renderTable(["NAME", "TYPE", "NODE", "READY"], rows, 50).split("\n")).toEqual([
    "NAME      TYPE",
    "  NODE                                      READY",
    "web-1234  m5.large",
    "  ip-10-0-59-94.us-west-2.compute.internal  True",
  ]);
});

it("on a narrow terminal the object and the reason have their own lines, and the price stays on the right", () => {
  const entry = { at: 0, what: "registered nodeclaim", which: "default-x7k2p", why: "as ip-10-0-59-94.us-west-2.compute.internal" };
  expect(renderEntry({ ...entry, pricePerHour: 1 }, { start: 0, width: 60 }).split("\n")).toEqual([
    "+00:00    registered nodeclaim                      $1.000/h",
    "            default-x7k2p  as",
    "            ip-10-0-59-94.us-west-2.compute.internal",
  ]);
});

it("colours take no room", () => {
  const line = `\u001b[1m${"x".repeat(60)}\u001b[0m`;
  expect(shown(line, { isTTY: true, columns: 60 })).toBe(line);
});
