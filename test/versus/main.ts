import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { cacheDir, projectRoot } from "../e2e/support/paths.ts";
import { COURSES } from "./courses/all.ts";
import type { Run } from "./figures.ts";
import { type Options, readOptions, USAGE } from "./options.ts";
import { dataText, type VersusData, versusData, versusPage } from "./page.ts";
import { playCourse } from "./play.ts";
import { pairsOf } from "./summary.ts";
import { courseList, terminalTable } from "./table.ts";
import { findingsOf, isFault } from "./verdict.ts";

/*
 * `npm run versus` plays courses with the real Karpenter and with the deployed functions, each in a fresh cluster of
 * the end-to-end run, and compares what they launched, what it cost, how long pods waited and how many were moved.
 * In: names of courses and options (options.ts). Out: lines of JSON, a table, the autoscalers' logs. Exit code 1 when
 * the product is worse than Karpenter in a course by more than the tolerance (verdict.ts) and no reason is known, 2
 * when a course failed.
 */

async function main(options: Options): Promise<number> {
  const runs = options.from === undefined ? [] : readRuns(options.from);
  const failed = options.from === undefined ? await playAll(options, runs) : 0;
  const pairs = pairsOf(runs);
  console.log(`\n${terminalTable(COURSES, pairs)}`);
  if (options.writeDocs) {
    const text = dataText(versusData(pairs, availableParallelism()));
    write("docs/data/versus.json", text);
    write("docs/versus.md", versusPage(COURSES, JSON.parse(text) as VersusData));
  }
  if (failed > 0) return 2;
  return pairs.some((pair) => COURSES.some((course) => course.name === pair.course && findingsOf(course, pair)?.some(isFault))) ? 1 : 0;
}

function write(file: string, text: string): void {
  writeFileSync(join(projectRoot, file), text);
  console.log(`written: ${file}`);
}

/** Plays all courses, adds their runs, and returns how many failed. */
async function playAll(options: Options, runs: Run[]): Promise<number> {
  const out = options.out ?? cacheDir("versus");
  mkdirSync(out, { recursive: true });
  const lines = options.jsonl ?? join(out, "runs.jsonl");
  rmSync(lines, { force: true });
  let failed = 0;
  const wanted = COURSES.filter(({ name }) => options.courses.includes(name));
  for (const course of wanted) {
    for (let run = 1; run <= options.repeat; run++) {
      for (const autoscaler of options.autoscalers) {
        const what = `${course.name} ${autoscaler}${options.repeat > 1 ? ` ${run}` : ""}`;
        const began = performance.now();
        try {
          const played = await playCourse(course, autoscaler, run, join(out, what.replaceAll(" ", "-")));
          appendFileSync(lines, `${JSON.stringify(played)}\n`);
          runs.push(played);
          const problems = played.problems.map((problem) => `\n     ${problem}`).join("");
          console.log(`played ${what.padEnd(40)} ${seconds(began)}${problems}`);
        } catch (error) {
          failed++;
          console.log(`FAILED ${what.padEnd(40)} ${seconds(began)}\n     ${worded(error)}`);
        }
      }
    }
  }
  console.log(`${lines}\nlogs: ${out}/COURSE-AUTOSCALER/`);
  return failed;
}

/** "fetch failed" alone says nothing: its cause names the connection. */
function worded(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${worded(error.cause)}`;
}

const seconds = (began: number): string => `${((performance.now() - began) / 1_000).toFixed(0).padStart(4)} s`;

function readRuns(file: string): Run[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Run);
}

let options: Options | undefined;
try {
  options = readOptions(process.argv.slice(2), COURSES);
} catch (error) {
  console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  process.exitCode = 2;
}
if (options?.list) console.log(courseList(COURSES));
else if (options !== undefined) process.exitCode = await main(options);
