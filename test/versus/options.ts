import { parseArgs } from "node:util";
import type { Course } from "./courses/course.ts";
import { AUTOSCALERS, type AutoscalerName } from "./figures.ts";

export const USAGE = `npm run versus -- [COURSE...] [options]
  --list            name the courses, and play none
  --quick           the few courses that take ten minutes together
  --only A          karpenter or product alone
  --repeat N        play each course N times and compare the medians (1)
  --out DIR         the folder of logs and results (.cache/versus)
  --jsonl FILE      the lines of JSON, one a course, autoscaler and run (DIR/runs.jsonl)
  --from FILE       play nothing, and compare the runs of a FILE of --jsonl
  --write-docs      write docs/data/versus.json, and docs/versus.md of it`;

export interface Options {
  readonly list: boolean;
  /** Names of the courses to play. */
  readonly courses: readonly string[];
  readonly autoscalers: readonly AutoscalerName[];
  readonly repeat: number;
  readonly out?: string;
  readonly jsonl?: string;
  readonly from?: string;
  readonly writeDocs: boolean;
}

/** Throws one sentence about what is wrong with the arguments. */
export function readOptions(args: readonly string[], known: readonly Course[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      list: { type: "boolean", default: false },
      quick: { type: "boolean", default: false },
      only: { type: "string" },
      repeat: { type: "string", default: "1" },
      out: { type: "string" },
      jsonl: { type: "string" },
      from: { type: "string" },
      "write-docs": { type: "boolean", default: false },
    },
  });
  const { list, quick, only, out, jsonl, from, "write-docs": writeDocs } = values;
  const names = known.map(({ name }) => name);
  const unknown = positionals.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new Error(`There is no course "${unknown}"; give any of ${names.join(", ")}, or none for all but the large ones.`);
  if (quick && positionals.length > 0) throw new Error(`--quick chooses the courses: leave out ${positionals.join(", ")}.`);
  const autoscalers = AUTOSCALERS.filter((name) => only === undefined || name === only);
  if (autoscalers.length === 0) throw new Error(`--only must be ${AUTOSCALERS.join(" or ")}, not "${only}".`);
  const repeat = Number(values.repeat);
  if (!Number.isInteger(repeat) || repeat < 1) throw new Error(`--repeat must be a whole number above 0, not "${values.repeat}".`);
  const wanted = quick ? known.filter((course) => course.quick).map(({ name }) => name) : positionals;
  return {
    ...{ list, autoscalers, repeat, writeDocs },
    courses: wanted.length > 0 ? wanted : known.filter(({ large = false }) => !large).map(({ name }) => name),
    ...(out !== undefined && { out }),
    ...(jsonl !== undefined && { jsonl }),
    ...(from !== undefined && { from }),
  };
}
