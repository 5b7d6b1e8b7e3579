/**
 * EC2 takes many spot machines back within a minute: what each function reads, how long it takes, and whether Lambda's
 * memory suffices. `node test/bench/storm.ts [--claims 5000] [--notices 1000]` plays each function in a process of its
 * own, whose heap is bounded by the function's memory.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { FUNCTIONS } from "#infra/functions.ts";
import { STORMED, type Stormed } from "./storm-scene.ts";

interface Measured {
  readonly fn: Stormed;
  readonly invocations: number;
  readonly records: number;
  readonly seconds: number;
  readonly sceneMib: number;
  readonly heapMib: number;
  readonly rssMib: number;
  readonly errors: number;
  readonly firstError?: string;
}

const memoryOf = (fn: Stormed): number => FUNCTIONS[fn === "sweep" ? "lifecycle" : fn].memory;

function measure(fn: Stormed, claims: string, notices: string): Measured {
  const script = join(import.meta.dirname, "storm-measure.ts");
  const output = execFileSync(process.execPath, [`--max-old-space-size=${memoryOf(fn)}`, script, fn, claims, notices], {
    encoding: "utf8",
  });
  return JSON.parse(output) as Measured;
}

const { values } = parseArgs({ options: { claims: { type: "string", default: "5000" }, notices: { type: "string", default: "1000" } } });
const { claims, notices } = values;
console.log(`${notices} interruption notices within a minute, ${claims} NodeClaims; memory in MiB, the made-up cluster included`);
const HEADS = ["function", "invocations", "records read", "seconds", "cluster", "heap", "RSS", "of Lambda", "errors"];
const line = (cells: readonly (string | number)[]): string => cells.map((cell) => String(cell).padStart(12)).join(" ");
console.log(line(HEADS));
for (const fn of STORMED) {
  const m = measure(fn, claims, notices);
  console.log(line([fn, m.invocations, m.records, m.seconds, m.sceneMib, m.heapMib, m.rssMib, memoryOf(fn), m.errors]));
  if (m.firstError !== undefined) console.log(`  ${m.firstError}`);
}
