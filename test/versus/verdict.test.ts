import { describe, expect, it } from "vitest";
import type { Course } from "./courses/course.ts";
import type { ActFigures } from "./figures.ts";
import { median, pairsOf } from "./summary.ts";
import { actFigures, run } from "./support.ts";
import { exceeds, findingsOf, isFault, TOLERANCES } from "./verdict.ts";

const course = (grows: boolean): Course => ({
  ...{ name: "waves", about: "pods in waves", setting: [] },
  acts: [{ name: "up", seconds: 60, steps: [], grows }],
});

/** What is worse when Karpenter has the plain figures, with `theirs` in place of some, and the product has `ours`. */
function worse(
  ours: Partial<ActFigures>,
  { theirs = {}, grows = true }: { readonly theirs?: Partial<ActFigures>; readonly grows?: boolean } = {},
) {
  const runs = [run("karpenter", { acts: [actFigures(theirs)] }), run("product", { acts: [actFigures(ours)] })];
  const [pair] = pairsOf(runs);
  return pair && findingsOf(course(grows), pair)?.map(({ figure }) => figure);
}

describe("the verdict of a course", () => {
  it("equal figures are not worse", () => {
    expect(worse({})).toEqual([]);
  });

  it.each([
    ["pods run late", { running: 60 }, "seconds to all Running"],
    ["pods never run", { running: undefined }, "seconds to all Running"],
    ["more machines are launched", { launched: 3 }, "machines launched"],
    ["more machines stay", { atRest: 3 }, "machines at rest"],
    ["the machines at rest cost more", { usdPerHour: 0.41 }, "$ per hour at rest"],
    ["the course costs more", { cents: 0.6 }, "cents over the course"],
    ["more pods are evicted", { evicted: 2 }, "pods evicted"],
  ])("it is worse when %s", (_, ours, figure) => {
    expect(worse(ours as Partial<ActFigures>)).toEqual([figure]);
  });

  it.each(["running", "waited", "evicted", "usdPerHour"] as const)("%s may be above Karpenter's by its tolerance", (figure) => {
    const { part, amount } = TOLERANCES[figure];
    expect(exceeds(figure, 100, 100 * (1 + part) + amount)).toBe(false);
    expect(exceeds(figure, 100, 100 * (1 + part) + amount + 0.5)).toBe(true);
  });

  it("more machines are not worse when they are cheaper together", () => {
    expect(worse({ launched: 12, atRest: 12, usdPerHour: 0.3 })).toEqual([]);
    expect(worse({ launched: 12, atRest: 12, usdPerHour: 0.399 })).toEqual(["machines launched", "machines at rest"]);
  });

  it("waiting is judged by pod-seconds where no pods come, and by the last pod where they do", () => {
    expect(worse({ waited: 1_000 })).toEqual([]);
    expect(worse({ waited: 1_000 }, { grows: false })).toEqual(["pod-seconds of waiting"]);
    expect(worse({ running: 60 }, { grows: false })).toEqual([]);
  });

  it("a time that Karpenter never reaches is no reproach", () => {
    expect(worse({ running: 90 }, { theirs: { running: undefined } as unknown as Partial<ActFigures> })).toEqual([]);
  });

  it("there is no verdict as long as one of the two has not played", () => {
    const [pair] = pairsOf([run("product")]);
    expect(pair && findingsOf(course(true), pair)).toBeUndefined();
  });
});

describe("repeated runs", () => {
  it("a summary has the median of each figure", () => {
    const runs = [30, 20, 25].map((running, i) => run("product", { run: i + 1, acts: [actFigures({ running, launched: 2 + i })] }));
    expect(pairsOf(runs)[0]?.product).toMatchObject({ runs: 3, acts: [{ running: 25, launched: 3 }] });
  });

  it("pods that never ran in most runs have no time", () => {
    const { running: _, ...never } = actFigures();
    const runs = [actFigures(), never, never].map((figures) => run("product", { acts: [figures] }));
    expect(pairsOf(runs)[0]?.product?.acts[0]?.running).toBeUndefined();
  });

  it("the cost of a course is the sum of its acts", () => {
    const acts = [actFigures({ act: "up", cents: 2 }), actFigures({ act: "half", cents: 1 })];
    expect(pairsOf([run("karpenter", { acts })])[0]?.karpenter?.cents).toBe(3);
  });

  it.each([
    [[3, 1, 2], 2],
    [[4, 1, 2, 3], 2],
    [[5], 5],
  ])("the median of %j is %d", (values, middle) => {
    expect(median(values)).toBe(middle);
  });
});

it("a figure that is worse for a known reason is told with it, and is no fault", () => {
  const known = { ...course(true), exception: { figures: ["launched"], reason: "it is so" } } as const;
  const runs = [run("karpenter"), run("product", { acts: [actFigures({ launched: 3, atRest: 3 })] })];
  const found = pairsOf(runs).flatMap((pair) => findingsOf(known, pair) ?? []);
  expect(found.map((finding) => [finding.figure, finding.reason, isFault(finding)])).toEqual([
    ["machines launched", "it is so", false],
    ["machines at rest", undefined, true],
  ]);
});
