import { describe, expect, it } from "vitest";
import { conditionsOf } from "./conditions.ts";
import { pairsOf } from "./summary.ts";
import { run } from "./support.ts";

const conditions = (loads: readonly number[]) => {
  const runs = loads.map((load, i) => run(i % 2 === 0 ? "karpenter" : "product", { load, run: i }));
  return conditionsOf(pairsOf(runs), 2).join("\n");
};

describe("the conditions of the runs", () => {
  it("they name the load, how often each course was played, and how long a machine boots, without a date", () => {
    expect(conditions([1, 2.04])).toContain("with 2 cores runs everything; its load at the end of a course was 1.0 to 2.0.");
    expect(conditions([1, 2])).toContain("Each course was played once.");
    expect(conditions([1, 1, 1, 1, 1, 1])).toContain("Medians of 3 runs of each course.");
    expect(conditions([1, 2])).toContain("running 2 s after its launch, reads its user data 13 s later, and is Ready 2s after that.");
    expect(conditions([1, 2])).not.toMatch(/\b20\d\d\b/);
  });

  it("a page without runs says so", () => {
    expect(conditionsOf([], 2).at(-1)).toBe("No course has been played for this page yet.");
  });

  it("a machine that was too busy is said to have been", () => {
    expect(conditions([1, 6])).not.toContain("too busy");
    expect(conditions([1, 6.1])).toContain("The machine was too busy");
  });
});
