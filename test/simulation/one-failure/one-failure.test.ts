import { expect, it } from "vitest";
import { FAILURES_EVERY } from "../../support/effort.ts";
import { COURSES } from "./course.ts";
import { delays, isTooLate } from "./measure.ts";
import { sentence } from "./table.ts";

const [course] = COURSES;
if (course === undefined) throw new Error("there are no courses");

// `npm run -s verify -- one-failure` plays all courses, and each call of them.
it("one call that fails makes pods at most 10 s late, and one whose answer is lost 75 s", async () => {
  const late: string[] = [];
  let played = 0;
  for await (const delay of delays(course, "one", 1, FAILURES_EVERY)) {
    played++;
    if (isTooLate(delay)) late.push(sentence(delay));
  }
  expect(played).toBeGreaterThan(60 / FAILURES_EVERY);
  expect(late).toEqual([]);
}, 120_000);
