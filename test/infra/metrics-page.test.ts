import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { METRICS } from "../../core/ports/metric-registry.ts";
import { readTree } from "../architecture/source-tree.ts";

const PAGE = readFileSync("docs/metrics-and-events.md", "utf8").split("\n## Events")[0] ?? "";
const TYPES = { C: "counter", G: "gauge", O: "histogram" } as const;
/** Names of metrics under `karpenter_` in Karpenter v1.14.1 and its AWS provider, and on their main branches. */
const KARPENTERS = 73;

const backticked = (cell: string) => [...cell.replaceAll(/\([^)]*\)/g, "").matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? "");

/** Rows of the table of metrics that are emitted: name, ours, type, labels. */
const emitted = [...PAGE.matchAll(/^\| `(\w+)`(?: \(([a-z, ]+)\))? \| ([CGO]) \| ([^|]*) \|/gm)].map(
  ([, name = "", marks = "", type, labels = ""]) => [
    name,
    {
      ...{ type: TYPES[type as keyof typeof TYPES], labels: backticked(labels) },
      ...(marks.includes("ours") && { isOurs: true }),
      ...(marks.includes("essential") && { isEssential: true }),
    },
  ],
);
const absent = [...PAGE.matchAll(/^\| `(\w+)` \| (?![CGO] \|)(.+) \|$/gm)]
  .filter(([, name = ""]) => name.includes("_"))
  .map(([, name]) => name);

it("the page of metrics names each metric of the registry with its type and labels, and no other", () => {
  expect(Object.fromEntries(emitted)).toEqual(METRICS);
  expect(emitted).toHaveLength(Object.keys(METRICS).length);
});

it("each of Karpenter's metrics is emitted or has the reason why it is not, once", () => {
  const karpenters = Object.entries<{ type: string; isOurs?: true }>(METRICS).flatMap(([name, { isOurs }]) => (isOurs ? [] : [name]));
  const told = [...karpenters, ...absent];
  expect(new Set(told).size).toBe(told.length);
  expect(told).toHaveLength(KARPENTERS);
  expect(PAGE).toContain(`Of Karpenter's ${KARPENTERS} names ${karpenters.length} are in the table above.`);
});

it("code emits each metric of the registry", () => {
  const sources = [...readTree(["core", "functions"])].filter(([path]) => !path.endsWith("metric-registry.ts")).map(([, text]) => text);
  const silent = Object.keys(METRICS).filter((name) => !sources.some((text) => text.includes(`"${name}"`)));
  expect(silent).toEqual([]);
});
