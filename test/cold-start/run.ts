import { mkdirSync, mkdtempSync, statSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type BundledCode, functionNames } from "#infra/build.ts";
import { startFakeAws } from "../e2e/fake-aws/fake-aws.ts";
import { smallCatalogue } from "../e2e/fake-aws/small-catalogue.ts";
import { removeDir } from "../e2e/support/child.ts";
import { type ColdStart, coldStart } from "./environment.ts";
import { installInterfaceClient } from "./interface-client.ts";
import { markedBundle } from "./marked-bundle.ts";
import { eventFor, variablesFor } from "./scene.ts";
import { startStandIns } from "./stand-ins.ts";

/**
 * `node test/cold-start/run.ts [NAME…] [--runs 9]` starts the bundles under AWS's own Lambda interface client, against
 * empty stand-ins that answer at once, and prints medians. The machine is not Lambda: compare the figures with each
 * other and not with AWS's.
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { runs: { type: "string", default: "9" }, json: { type: "boolean" } },
});
const known = functionNames();
const unknown = positionals.find((name) => !known.includes(name));
const runs = Number(values.runs);
if (unknown !== undefined || !Number.isInteger(runs) || runs < 1) {
  console.error(
    unknown === undefined
      ? `--runs must be a whole number above 0, not ${values.runs}.`
      : `There is no function ${unknown}; there are ${known.join(", ")}.`,
  );
  process.exit(2);
}
const names = positionals.length > 0 ? positionals : known;

const dir = mkdtempSync(join(tmpdir(), "cold-start-"));
const interfaceClient = await installInterfaceClient();
const standIns = await startStandIns(dir);
const fake = await startFakeAws({
  catalogue: smallCatalogue,
  cluster: { name: "c1", endpoint: standIns.apiServer, caData: standIns.caData },
});
try {
  const measured = new Map<string, ColdStart[]>(names.map((name) => [name, []]));
  const bundles = new Map<string, BundledCode>();
  for (const name of names) bundles.set(name, await markedBundle(name, join(dir, "dist")));
  // The functions take turns, so that other load of the machine affects all of them. The first round fills the disk
  // cache and is not counted.
  for (let round = 0; round <= runs; round++) {
    for (const [name, { file: bundle }] of bundles) {
      const work = join(dir, name);
      mkdirSync(work, { recursive: true });
      const variables = variablesFor({ fake: fake.url, tables: standIns.tables });
      const one = await coldStart({ interfaceClient, bundle, variables, event: eventFor(name), dir: work });
      if (round > 0) measured.get(name)?.push(one);
    }
  }
  print(measured, bundles);
} finally {
  await fake.close();
  await standIns.close();
  removeDir(dir);
}

function print(measured: ReadonlyMap<string, readonly ColdStart[]>, bundles: ReadonlyMap<string, BundledCode>): void {
  const columns = ["init", "node", "compile", "evaluate", "wire", "firstInvoke", "secondInvoke", "memory"] as const;
  const rows = [...measured].map(([name, starts]) => ({
    name,
    kibibytes: Math.ceil((bundles.get(name)?.startFiles ?? []).reduce((sum, file) => sum + statSync(file).size, 0) / 1024),
    ...Object.fromEntries(columns.map((column) => [column, median(starts.map((start) => start[column]))])),
  }));
  if (values.json) {
    console.log(JSON.stringify(rows, undefined, 1));
    return;
  }
  console.log("function          KiB   init = node + compile + evaluate + wire + client   1st invoke   2nd   MB");
  for (const row of rows) {
    const {
      init = 0,
      node = 0,
      compile = 0,
      evaluate = 0,
      wire = 0,
      firstInvoke = 0,
      secondInvoke = 0,
      memory = 0,
    } = row as Record<string, unknown> & Partial<ColdStart>;
    const rest = init - node - compile - evaluate - wire;
    const cell = (value: number, width: number): string => value.toFixed(0).padStart(width);
    console.log(
      `${row.name.padEnd(14)}${cell(row.kibibytes, 7)}${cell(init, 7)}${cell(node, 7)}${cell(compile, 10)}${cell(evaluate, 11)}${cell(wire, 7)}${cell(rest, 9)}${cell(firstInvoke, 13)}${cell(secondInvoke, 6)}${cell(memory, 5)}`,
    );
  }
  const busy = (loadavg()[0] ?? 0).toFixed(1);
  console.log(
    `medians of ${runs} runs, ms; ${cpus().length} cores, load ${busy}${Number(busy) > 1 ? ": others are at work, so only ratios count" : ""}`,
  );
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}
