import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { RawRequest } from "../account/request.ts";
import { installMiniStack } from "../e2e/support/ministack.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { byHand, ofWire } from "./by-hand.ts";
import { familyFaults } from "./families.ts";
import { commandOf, faultsOf, type Judged } from "./judge.ts";
import { partitionFaults } from "./partitions.ts";
import type { MadeCommand } from "./record-commands.ts";

// Judges each request of AWS by AWS's own models: those of the tests, those of the lab at the size of the real
// catalogue, and, with --wire FILE, those that an end-to-end run has written down (e2e/support/wire-log.ts).

const ROOT = resolve(import.meta.dirname, "../..");
/** Tests that make commands which the product sends. */
const TESTS = [
  "test/adapters/aws",
  "test/adapters/store",
  "test/iam",
  "test/functions/catalog",
  "test/installer/account-check",
  "test/installer/account",
];

const { values } = parseArgs({ options: { wire: { type: "string" } } });
let passed = 0;
let failed = 0;

function linesOf<Line>(file: string): readonly Line[] {
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Line);
}

/** The commands that a program makes. Throws when it fails. */
function commandsOf(name: string, args: readonly string[]): readonly Judged[] {
  const file = join(work, `${name}.jsonl`);
  const preload = `--import=${join(ROOT, "test/models/record-commands.ts")}`;
  const env = { ...process.env, SDK_COMMANDS: file, NODE_OPTIONS: preload };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, env, encoding: "utf8", maxBuffer: 1e8 });
  if (status !== 0) throw new Error(`${args.join(" ")}: ${`${stdout}${stderr}`.slice(-2_000)}`);
  return linesOf<MadeCommand>(file).map(commandOf);
}

/** Prints a line for each operation, and each fault once. */
function judge(source: string, requests: readonly Judged[]): void {
  console.log(`\n${source}`);
  const byOperation = Map.groupBy(requests, ({ service, operation }) => `${service}:${operation}`);
  for (const [name, some] of [...byOperation].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const faults = new Set(some.flatMap(faultsOf));
    const largest = Math.max(...some.map(({ input }) => JSON.stringify(input ?? {}).length));
    console.log(`  ${name.padEnd(40)} ${String(some.length).padStart(6)} requests, largest ${largest} characters, ${faults.size} faults`);
    for (const fault of faults) console.log(`FAILED  ${fault.slice(0, 200)}`);
    if (faults.size === 0) passed += 1;
    else failed += 1;
  }
  const all = requests.flatMap(faultsOf).length;
  console.log(`  ${byOperation.size} operations, ${requests.length} requests, ${all} faults`);
}

function judgePartitions(): void {
  const { regions, faults } = partitionFaults();
  console.log(`\nPartitions: ${regions} regions with EKS, ${faults.length} faults`);
  for (const fault of faults) console.log(`FAILED  ${fault}`);
  passed += regions;
  failed += faults.length;
}

function judgeFamilies(): void {
  const { families, lines, faults } = familyFaults();
  console.log(`\nInstance families of EC2's list: ${families}, ${faults.length} faults`);
  for (const line of lines) console.log(`  ${line}`);
  for (const fault of faults) console.log(`FAILED  ${fault}`);
  passed += families;
  failed += faults.length;
}

/** Ways to break a CreateFleet, each of which must be found: a check that finds nothing proves nothing. */
const PLANTED: Readonly<Record<string, (fleet: Fleet) => Fleet>> = {
  "an unknown field": (fleet) => ({ ...fleet, Prise: "0.1" }),
  "a value that is none of an enum": (fleet) => ({ ...fleet, Type: "instantly" }),
  "a number as text": (fleet) => ({ ...fleet, TargetCapacitySpecification: { TotalTargetCapacity: "1" } }),
  "a field that is missing": ({ LaunchTemplateConfigs: _left, ...fleet }) => fleet,
  "a list that is too long": (fleet) => ({ ...fleet, LaunchTemplateConfigs: Array.from({ length: 51 }, () => ({})) }),
  "a name that is too short": (fleet) => ({
    ...fleet,
    LaunchTemplateConfigs: [{ LaunchTemplateSpecification: { LaunchTemplateName: "t" } }],
  }),
};
type Fleet = Readonly<Record<string, unknown>>;

function plant(requests: readonly Judged[]): void {
  const fleet = requests.find(({ operation }) => operation === "CreateFleet");
  if (fleet === undefined) throw new Error("the lab has sent no CreateFleet");
  for (const [name, broken] of Object.entries(PLANTED)) {
    const [fault] = faultsOf({ ...fleet, input: broken(fleet.input as Fleet) });
    if (fault === undefined) console.log(`FAILED  planted: ${name} is not found`);
    else console.log(`  planted: ${name}: ${fault.slice(0, 100)}`);
    if (fault === undefined) failed += 1;
    else passed += 1;
  }
}

const work = temporaryFolder("models");
await installMiniStack();
if (values.wire !== undefined) judge(`The requests of ${values.wire}`, linesOf<RawRequest>(values.wire).map(withBody).map(ofWire));
else {
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  judge("The tests", commandsOf("tests", [vitest, "run", ...TESTS]));
  const ofLab = commandsOf("lab", [join(ROOT, "test/models/lab-commands.ts")]);
  judge("The lab, all types of the catalogue", ofLab);
  judge("Without an SDK client", await byHand());
  console.log("");
  plant(ofLab);
  judgePartitions();
  judgeFamilies();
}
rmSync(work, { recursive: true });
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

/** A body is base64 in a file. */
function withBody(line: RawRequest): RawRequest {
  return { ...line, body: Buffer.from(String(line.body), "base64") };
}
