import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Command } from "../../../cli/command.ts";
import { consolidateCommand } from "../../../cli/consolidate/command.ts";
import { costCommand } from "../../../cli/cost/command.ts";
import { doctor } from "../../../cli/doctor/doctor.ts";
import { historyCommand, reportCommand, whyCommand } from "../../../cli/history/command.ts";
import { solveCommand } from "../../../cli/solve/command.ts";
import { status } from "../../../cli/status/status.ts";
import { whatIfCommand } from "../../../cli/what-if/command.ts";
import { runLab } from "../../../lab/lab.ts";
import { instanceType, pod, snapshot } from "../../core/disruption/builders.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { Installed } from "../installation/world.ts";
import { published, SCHEMAS } from "./schemas.ts";

type Name = keyof typeof SCHEMAS;
const folder = temporaryFolder("json-schemas");

const { instanceTypes: _, ...lists } = snapshot({ machines: [{ name: "a" }, { name: "b" }], pods: [pod("p", "a"), pod("q", "b")] });
const scenario = join(folder, "scenario.json");
writeFileSync(
  scenario,
  JSON.stringify({ ...lists, now: "2026-01-01T12:00:00Z", instanceTypes: ["small", "large"].map((n) => instanceType(n)) }),
);

/** A history of nodes that come, are replaced and go, of pods that wait, and the report of the run. */
const db = join(folder, "lab.db");
const labReport = join(folder, "report.json");
const waiting = join(folder, "waiting.yaml");
writeFileSync(
  waiting,
  "apiVersion: v1\nkind: Pod\nmetadata: { name: lost }\nspec: { nodeSelector: { team: blue }, containers: [{ name: c, image: i }] }\n",
);
const { write } = process.stdout;
process.stdout.write = () => true;
try {
  const words = ["--setting", "FEATURE_GATES=SpotToSpotConsolidation=true", "--scale", "worker=2", "--history", db, "--report", labReport];
  await runLab(["examples/recipes/spot.yaml", waiting, ...words]);
} finally {
  process.stdout.write = write;
}

/** The lines of the lab's log. */
const logged: string[] = [];
process.stdout.write = ((text: string) => logged.push(...text.split("\n").filter(Boolean)) > 0) as typeof process.stdout.write;
try {
  await runLab(["inflate", "--json"]);
} finally {
  process.stdout.write = write;
}

const silent = (): void => {};
const printed = async (command: Command, args: readonly string[]): Promise<string> => {
  const { output, parts = [] } = await command.run(args, silent);
  return `${output}${[...parts].join("")}`;
};
const fromDb = ["--from", db, "--since", "30d"];
const INSTALLED = { cluster: "c1", region: "us-west-2", stackName: "karpenter-serverless", json: true };

/** A real output of each command, at least. */
const OUTPUTS: Readonly<Record<Name, readonly (() => Promise<string>)[]>> = {
  solve: [
    () => printed(solveCommand, ["test/scenarios/scheduling/inflate.in.json"]),
    () => printed(solveCommand, ["test/scenarios/scheduling/left-behind.in.json"]),
  ],
  consolidate: [() => printed(consolidateCommand, [scenario])],
  "what-if": [
    () => printed(whatIfCommand, [scenario, "--format", "json"]),
    () => printed(whatIfCommand, [scenario, "--format", "json", "--budget", "default=20%", "--from-scratch"]),
  ],
  "lab-log": logged.map((line) => async () => line),
  "lab-report": [async () => readFileSync(labReport, "utf8")],
  status: [async () => (await status(INSTALLED, new Installed().installationPorts())).output],
  doctor: [async () => (await doctor(INSTALLED, new Installed().installationPorts())).output],
  history: [() => printed(historyCommand, [...fromDb, "--json"])],
  why: [
    async () => {
      const { entries } = JSON.parse(await printed(historyCommand, [...fromDb, "--json"])) as { entries: { nodeClaim?: string }[] };
      const name = entries.find(({ nodeClaim }) => nodeClaim !== undefined)?.nodeClaim;
      return printed(whyCommand, [`nodeclaim/${name}`, ...fromDb, "--json"]);
    },
    () => printed(whyCommand, ["pod/default/lost", ...fromDb, "--json"]),
  ],
  report: [() => printed(reportCommand, [...fromDb, "--format", "json"])],
  cost: [() => printed(costCommand, ["--json", "--nodes", "10"])],
};

describe.for(Object.keys(SCHEMAS) as Name[])("the JSON of %s", (name) => {
  it("has the fields of its schema, each of them and no other", async () => {
    for (const output of OUTPUTS[name]) {
      const { success, error } = SCHEMAS[name].shape.safeParse(JSON.parse(await output()));
      expect(error?.issues ?? [], `${success}`).toEqual([]);
    }
  });

  it("has its schema in docs/schemas", async () => {
    await expect(published(name)).toMatchFileSnapshot(`../../../docs/schemas/${name}.json`);
  });
});

it("the history that is checked has entries of most types", async () => {
  const { entries } = JSON.parse(await printed(historyCommand, [...fromDb, "--json"])) as { entries: { type: string }[] };
  const types = new Set(entries.map(({ type }) => type));
  for (const type of ["Planned", "Launched", "Registered", "Initialized", "Disrupted", "Terminating", "Removed", "PodsWaited"])
    expect(types).toContain(type);
});

it("the lab's log that is checked has lines of the functions, and of the lab itself", () => {
  expect(logged.length).toBeGreaterThan(10);
  expect(logged.some((line) => line.includes('"reconcileID"'))).toBe(true);
  expect(logged.some((line) => line.includes('"logger":"lab"'))).toBe(true);
});

it("docs/schemas has no other file, and each command that prints JSON names its schema", () => {
  expect(readdirSync("docs/schemas").toSorted()).toEqual(
    Object.keys(SCHEMAS)
      .map((name) => `${name}.json`)
      .toSorted(),
  );
  const page = readFileSync("docs/commands.md", "utf8");
  for (const name of Object.keys(SCHEMAS)) expect(page).toContain(`schemas/${name}.json`);
});
