// What does it cost pods when one remote call fails? `node test/simulation/one-failure/main.ts [--most N]
// [--course NAME]` plays each course once for each call, in which that call fails, and prints how much later pods run.
// In: course.ts. Out: a line for each call that breaks the law, and a table; exits 1 when one does.

import { parseArgs } from "node:util";
import { wholeOption } from "../../support/number-option.ts";
import { COURSES, STACKS } from "./course.ts";
import { type Delay, delays, isTooLate } from "./measure.ts";
import { sentence, table } from "./table.ts";

const { values } = parseArgs({ options: { most: { type: "string", default: "1000" }, course: { type: "string" } } });
const most = wholeOption("most", values.most, 1);
const courses = COURSES.filter(({ name }) => (values.course ?? name) === name);
if (courses.length === 0)
  throw new Error(`there is no course "${values.course}"; there are: ${COURSES.map(({ name }) => name).join(", ")}`);
const all: Delay[] = [];
for (const course of courses) {
  for (const stack of STACKS) {
    for await (const delay of delays(course, stack, most)) {
      all.push(delay);
      if (isTooLate(delay)) console.log(sentence(delay));
    }
  }
}
console.log(table(all));
process.exitCode = all.some(isTooLate) ? 1 : 0;
