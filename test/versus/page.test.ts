import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { COURSES } from "./courses/all.ts";
import type { Course } from "./courses/course.ts";
import { dataText, type VersusData, versusData, versusPage } from "./page.ts";
import { pairsOf } from "./summary.ts";
import { actFigures, run } from "./support.ts";

const PLAYED = JSON.parse(readFileSync("docs/data/versus.json", "utf8")) as VersusData;

const course: Course = {
  ...{ name: "waves", about: "40 pods in four waves", setting: [] },
  acts: [{ name: "up", seconds: 60, steps: [], grows: true }],
};
const played = pairsOf([run("karpenter"), run("product", { acts: [actFigures({ running: 40, atRest: 3, atRestTypes: "3×m5.large@b" })] })]);

describe("docs/versus.md", () => {
  it("is what its data makes; write it with `npm run versus -- --from RUNS --write-docs`", () => {
    expect(readFileSync("docs/versus.md", "utf8")).toBe(versusPage(COURSES, PLAYED));
  });

  it("names conditions, tolerances, the verdict, and what is worse", () => {
    const text = versusPage([course], versusData(played, 2));
    expect(text).toContain("- One machine with 2 cores runs everything");
    expect(text).toContain("seconds to all Running 15 % and 3,");
    expect(text).toContain("| waves | 22 · 40 | 2 · 2 | 2 · 3 |");
    expect(text).toContain("- waves: act up: seconds to all Running 40, Karpenter 22; act up: machines at rest 3, Karpenter 2.\n");
  });

  it("joins the findings of one reason, and gives the reason once", () => {
    const explained = { ...course, exception: { figures: ["running", "atRest"] as const, reason: "planned" } };
    const text = versusPage([explained], versusData(played, 2)).replaceAll(/\n +/g, " ");
    expect(text).toContain(
      "- waves: act up: seconds to all Running 40, Karpenter 22; act up: machines at rest 3, Karpenter 2 (planned).\n",
    );
  });

  it("shows a course that only one autoscaler has played without a verdict", () => {
    expect(versusPage([course], versusData(pairsOf([run("karpenter")]), 2))).toContain(
      "| 22 · – | 2 · – | 2 · – | 0.400 · – | 0.50 · – | 0 · – | 3 · – | not compared |",
    );
  });

  it("has lines of text of at most 120 columns", () => {
    const text = versusPage([course], { conditions: [`The machine${" has two cores".repeat(12)}.`], pairs: played });
    const lines = text.split("\n").filter((line) => !line.startsWith("|"));
    expect(lines.filter(({ length }) => length > 120)).toEqual([]);
    expect(lines.some((line, i) => line.startsWith("- The machine") && lines[i + 1]?.startsWith("  "))).toBe(true);
  });
});

describe("docs/data/versus.json", () => {
  it("has one line for each act", () => {
    const text = dataText(versusData(played, 2));
    expect(text.match(/^ +\{ "act": "up", .* \},?$/gm)).toHaveLength(2);
    expect(JSON.parse(text).pairs[0].product.acts).toEqual(played[0]?.product?.acts);
  });

  it("is written with four digits, as the file in the repository", () => {
    expect(dataText(PLAYED)).toBe(readFileSync("docs/data/versus.json", "utf8"));
    expect(dataText({ conditions: [], pairs: pairsOf([run("product", { acts: [actFigures({ running: 1 / 3 })] })]) })).toContain(
      '"running": 0.3333 ',
    );
  });
});
