import { COURSES } from "../../versus/courses/all.ts";
import { type Phase, playCourse, total } from "./course.ts";
import { playVersusCourse } from "./courses.ts";

// `node test/simulation/requests/print.ts [COURSE...]` prints which requests the functions make of the API server and
// the table, by phase: for the course that the tests count, or for courses of `npm run versus`, played in the lab.

type Port = "kube" | "table";

const TITLES: Readonly<Record<Port, string>> = { kube: "Requests to the API server", table: "Calls of the table" };

function rows(phases: readonly Phase[], port: Port): readonly (readonly string[])[] {
  const names = new Set(
    phases.flatMap((phase) =>
      Object.entries(phase[port]).flatMap(([fn, requests]) => Object.keys(requests).map((name) => `${fn} ${name}`)),
    ),
  );
  const of = (phase: Phase, name: string): number => {
    const [fn = "", ...request] = name.split(" ");
    return phase[port][fn]?.[request.join(" ")] ?? 0;
  };
  const counted = [...names].map((name) => [name, ...phases.map((phase) => of(phase, name))] as const);
  const sums = ["all", ...phases.map((phase) => total(phase[port]))] as const;
  const withSum = [...counted, sums].map(([name, ...ns]) => ({ name, ns, sum: ns.reduce((a, b) => a + b, 0) }));
  return withSum.sort((a, b) => b.sum - a.sum || (a.name < b.name ? -1 : 1)).map(({ name, ns, sum }) => [name, ...ns, sum].map(String));
}

function table(head: readonly string[], body: readonly (readonly string[])[]): string {
  const widths = head.map((_, i) => Math.max(...[head, ...body].map((row) => (row[i] ?? "").length)));
  const line = (row: readonly string[]): string =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join("  ");
  return [head, ...body].map(line).join("\n");
}

const wanted = process.argv.slice(2);
const unknown = wanted.find((name) => !COURSES.some((course) => course.name === name));
if (unknown !== undefined) {
  console.error(`There is no course "${unknown}"; give any of ${COURSES.map(({ name }) => name).join(", ")}, or none.`);
  process.exitCode = 2;
} else if (wanted.length === 0) {
  const { claims, phases } = await playCourse();
  print(`40 pods, two NodePools, ${claims} NodeClaims`, phases);
} else {
  for (const course of COURSES.filter(({ name }) => wanted.includes(name)))
    print(`${course.name}: ${course.about}`, await playVersusCourse(course));
}

function print(title: string, phases: readonly Phase[]): void {
  console.log(`\n${title}; seconds: ${phases.map(({ name, seconds }) => `${name} ${seconds}`).join(", ")}`);
  for (const port of ["kube", "table"] as const)
    console.log(`\n${table([TITLES[port], ...phases.map(({ name }) => name), "sum"], rows(phases, port))}`);
}
