import { describe, expect, it } from "vitest";
import { COURSES } from "./courses/all.ts";
import { readOptions } from "./options.ts";

const read = (...args: readonly string[]) => readOptions(args, COURSES);

describe("the options of npm run versus", () => {
  it("without arguments all courses but the large ones are played once by both autoscalers", () => {
    expect(read()).toEqual({
      ...{ list: false, repeat: 1, writeDocs: false },
      ...{ courses: COURSES.filter(({ large }) => !large).map(({ name }) => name), autoscalers: ["karpenter", "product"] },
    });
  });

  it("courses, the autoscaler, the repetitions and the files can be chosen", () => {
    expect(read("waves", "day", "--only", "product", "--repeat", "3", "--out", "here", "--jsonl", "lines", "--write-docs")).toEqual({
      ...{ list: false, repeat: 3, writeDocs: true, courses: ["waves", "day"], autoscalers: ["product"], out: "here", jsonl: "lines" },
    });
  });

  it("--quick plays the courses that are marked so", () => {
    expect(read("--quick").courses).toEqual(COURSES.filter(({ quick }) => quick).map(({ name }) => name));
  });

  it.each([
    ["an unknown course", ["tides"], /There is no course "tides"; give any of weights,/],
    ["an unknown autoscaler", ["--only", "escalator"], /--only must be karpenter or product, not "escalator"/],
    ["no whole number of runs", ["--repeat", "0"], /--repeat must be a whole number above 0, not "0"/],
    ["courses beside --quick", ["--quick", "day"], /leave out day/],
    ["an unknown option", ["--slow"], /--slow/],
  ])("%s is refused with one sentence", (_, args, sentence) => {
    expect(() => read(...args)).toThrow(sentence);
  });
});
