import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { consolidateCommand } from "#cli/consolidate/command.ts";
import { costCommand } from "#cli/cost/command.ts";
import { historyCommand, reportCommand, whyCommand } from "#cli/history/command.ts";
import { withSource } from "#cli/history/source.ts";
import { compared } from "#cli/observe/replay.ts";
import { reportJson } from "#cli/observe/report.ts";
import { solveCommand } from "#cli/solve/command.ts";
import { changeSource } from "#cli/view/change.ts";
import { clusterSource } from "#cli/view/clusters.ts";
import { whatIfCommand } from "#cli/what-if/command.ts";
import { WHAT_IF_OPTIONS, WHAT_IF_SOURCE, whatIfOptions } from "#cli/what-if/options.ts";
import { readSourceFile } from "#cli/what-if/source.ts";
import { answer } from "#cli/what-if/what-if.ts";
import type { ViewSource } from "#console/server/source.ts";
import { pastEvent, pastOverview } from "#core/insight/overview/past.ts";
import type { ClusterOverview, NodeOverview, PastOverview, PodOverview, PoolOverview, ViewIndex } from "#core/insight/overview/types.ts";
import { DEFAULT_SETTINGS } from "#functions/wiring/settings.ts";
import { doctor } from "#installer/checks/doctor.ts";
import { status } from "#installer/checks/status.ts";
import { runLab } from "#lab/lab.ts";
import { playStory } from "#lab/play.ts";
import { STORIES } from "#lab/stories.ts";
import { recording } from "#lab/view.ts";
import type { Command } from "#terminal/command.ts";
import { parseArguments } from "#terminal/command-line.ts";
import { instanceType, pod, snapshot } from "../../core/disruption/builders.ts";
import { Installed } from "../../installer/checks/world.ts";
import { deployment, observedLab } from "../../observe/observed-lab.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
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
  await runLab(["docs/examples/recipes/spot.yaml", waiting, ...words]);
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

/** What views serve: of stories of the lab, of a file, of a what-if, and of a history. */
const recorded = recording("The lab");
for (const story of STORIES) {
  const options = { json: false, colour: false, seed: 1, region: story.region ?? "us-west-2", print: silent };
  await playStory(story, { ...options, recorder: recorded.record(story.name, story.title) });
}
const source = readSourceFile(scenario);
const ofFile = clusterSource([{ id: "0", name: "c1", read: async () => source }], {
  kind: "file",
  title: "c1",
  settings: DEFAULT_SETTINGS,
});
await ofFile.look();
const words = parseArguments({ usage: "", positionals: WHAT_IF_SOURCE, options: WHAT_IF_OPTIONS }, [scenario, "--budget", "default=20%"]);
const ofChange = changeSource(source, answer(source, whatIfOptions(words)), DEFAULT_SETTINGS);
const frames = (recorded.source.index().stories ?? []).flatMap((story) => story.frames);
const SCENES: readonly (readonly [ViewSource, string])[] = [
  ...frames.map(({ scene }) => [recorded.source, scene] as const),
  ...[[ofFile, "0"] as const, [ofChange, "before"] as const, [ofChange, "after"] as const],
];
const served = (value: unknown): string => JSON.stringify(value) ?? "nothing is served";
const kept = await withSource({ from: db }, async ({ cluster, now, store }) => {
  const since = now - 86_400_000;
  const entries = await store.history(cluster, { since, until: now + 1 });
  return {
    past: pastOverview({ cluster, entries, records: await store.list(cluster), since, until: now }),
    events: entries.map(pastEvent),
  };
});

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
  observe: [
    async () => {
      const { trace } = await observedLab({ minutes: 1, objects: [deployment("web", 2, "1", "1Gi")], acts: [] });
      return reportJson(await compared(trace, { settings: {}, apply: [], seed: 1 }));
    },
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
  "view-index": [recorded.source, ofFile, ofChange].map((view) => async () => served(view.index())),
  "view-overview": SCENES.map(
    ([view, id]) =>
      async () =>
        served(await view.scene(id)),
  ),
  "view-pods": SCENES.map(
    ([view, id]) =>
      async () =>
        served(await view.pods(id)),
  ),
  "view-past": [async () => served(kept.past)],
  "view-events": [async () => served(kept.events)],
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
  const ofViews = readFileSync("docs/view-data.md", "utf8");
  for (const name of Object.keys(SCHEMAS)) expect(name.startsWith("view-") ? ofViews : page).toContain(`schemas/${name}.json`);
});

it("the schemas of a view have each field of core/insight/overview/types.ts", () => {
  // A field that a type gains does not compile here without the schema's.
  const fields: readonly object[] = [
    SCHEMAS["view-index"].shape.shape satisfies Record<keyof ViewIndex, unknown>,
    SCHEMAS["view-overview"].shape.shape satisfies Record<keyof ClusterOverview, unknown>,
    SCHEMAS["view-overview"].shape.shape.nodes.element.shape satisfies Record<keyof NodeOverview, unknown>,
    SCHEMAS["view-overview"].shape.shape.nodePools.element.shape satisfies Record<keyof PoolOverview, unknown>,
    SCHEMAS["view-pods"].shape.element.shape satisfies Record<keyof PodOverview, unknown>,
    SCHEMAS["view-past"].shape.shape satisfies Record<keyof PastOverview, unknown>,
  ];
  for (const shape of fields) expect(Object.keys(shape).length).toBeGreaterThan(3);
});

it("the views that are checked have stories, figures, a change, nodes in several states, and a past", () => {
  const [stories, file, change] = [recorded.source, ofFile, ofChange].map((view) => view.index());
  expect(stories?.stories).toHaveLength(STORIES.length);
  expect(file?.scenes[0]?.figures).toBeDefined();
  expect(change?.change?.steps.length).toBeGreaterThan(0);
  expect([kept.past.costs.length > 0, kept.past.events.length > 0, kept.events.length > 0]).toEqual([true, true, true]);
});
