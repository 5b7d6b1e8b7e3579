import { describe, expect, it } from "vitest";
import { COURSES } from "./courses/all.ts";
import type { Course } from "./courses/course.ts";
import { pairsOf } from "./summary.ts";
import { actFigures, run } from "./support.ts";
import { courseList, minutesOf, terminalTable } from "./table.ts";

const course: Course = {
  ...{ name: "waves", about: "40 pods in four waves", setting: [] },
  acts: [{ name: "up", seconds: 60, steps: [], grows: true }],
};
const played = pairsOf([run("karpenter"), run("product", { acts: [actFigures({ running: 40, atRest: 3, atRestTypes: "3×m5.large@b" })] })]);

describe("the tables", () => {
  it("the terminal gets a line for each autoscaler and a line for each figure that is worse", () => {
    const lines = terminalTable([course], played).split("\n");
    expect(lines).toHaveLength(5);
    expect(lines[2]).toMatch(/^waves +product +40 .* worse$/);
    expect(lines.slice(3)).toEqual([
      "worse: waves, act up: seconds to all Running 40, Karpenter 22",
      "worse: waves, act up: machines at rest 3, Karpenter 2",
    ]);
  });
});

describe("the courses", () => {
  it("each course and each act of a course has a name of its own", () => {
    const names = COURSES.flatMap(({ name, acts }) => [name, ...new Set(acts.map((act) => `${name} ${act.name}`))]);
    expect(new Set(names).size).toBe(COURSES.reduce((sum, { acts }) => sum + 1 + acts.length, 0));
  });

  it("a still act belongs to pools that do not consolidate", () => {
    const consolidating = COURSES.filter(
      ({ setting, acts }) => acts.some(({ still }) => still) && /"consolidateAfter":"\d/.test(JSON.stringify(setting)),
    );
    expect(consolidating.map(({ name }) => name)).toEqual([]);
  });

  it("all courses but the large ones take at most 45 minutes, and those of --quick at most 10", () => {
    expect(minutesOf(COURSES.filter(({ large }) => !large))).toBeLessThanOrEqual(45);
    expect(minutesOf(COURSES.filter(({ quick }) => quick))).toBeLessThanOrEqual(10);
  });

  it("the list names each course with its minutes", () => {
    const list = courseList(COURSES);
    for (const { name, about } of COURSES) expect(list).toMatch(new RegExp(`^${name} +q? +\\d+\\.\\d  ${RegExp.escape(about)}$`, "m"));
  });
});
