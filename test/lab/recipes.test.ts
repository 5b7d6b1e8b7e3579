import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { LAB_ARGUMENTS } from "#lab/lab.ts";
import { playManifests, type Scaling } from "#lab/play.ts";
import type { LabReport } from "#lab/report.ts";
import { schemaProblems } from "#manifests/crd-schema.ts";
import { parseArguments } from "#terminal/command-line.ts";
import { settingsOf } from "#terminal/given-settings.ts";
import { rowsToPlay } from "../support/effort.ts";

const FOLDER = "docs/examples/recipes";
const PAGE = readFileSync("docs/recipes.md", "utf8");
const files = readdirSync(FOLDER);

/** Each outcome of the page: the file of its table, the arguments of its row, and what the row says. */
const outcomes = [...PAGE.matchAll(/^\| `npm start -- (\S+)` \| in the lab \|\n\| --- \| --- \|\n((?:\|.*\n)+)/gm)].flatMap(
  ([, file = "", rows = ""]) =>
    [...rows.matchAll(/^\| (?:as it is|`(.+?)`) \| (.+) \|$/gm)].map(([, args = "", outcome = ""]) => ({ file, args, outcome })),
);

async function play(file: string, args: string): Promise<LabReport> {
  const { values } = parseArguments(LAB_ARGUMENTS, [file, ...args.split(" ").filter((word) => word !== "")]);
  const { settings } = settingsOf(values.setting);
  const reports: LabReport[] = [];
  const options = { json: false, colour: false, seed: 1, region: "us-west-2", print: () => {}, settings };
  await playManifests([file], values.scale.map(scaling), 5, { ...options, onReport: (made) => void reports.push(made) });
  const [report] = reports;
  if (report === undefined) throw new Error("there is no report");
  return report;
}

/** What `--scale NAME=N` names. */
function scaling(text: string): Scaling {
  const [name = "", replicas = ""] = text.split("=");
  return { namespace: "default", name, replicas: Number(replicas) };
}

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** What became of a recipe, in the words of the page. */
function outcomeOf({ nodes, pods, refused }: LabReport): string {
  const kinds = Map.groupBy(nodes, ({ instanceType, capacityType, nodePool }) => `${instanceType} (${capacityType}, NodePool ${nodePool})`);
  const listed = [...kinds].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([kind, those]) => `${those.length} ${kind}`);
  const zones = new Set(nodes.map(({ zone }) => zone)).size;
  const own = pods.filter(({ owner }) => owner !== "DaemonSet");
  const phases = ["Running", "Succeeded", "Pending"].flatMap((phase) => {
    const count = own.filter((pod) => pod.phase === phase).length;
    return count === 0 ? [] : [`${plural(count, "pod")} ${phase}`];
  });
  const price = nodes.reduce((sum, { pricePerHour }) => sum + (pricePerHour ?? 0), 0);
  expect(refused).toEqual([]);
  const machines = nodes.length === 0 ? "no node" : `${listed.join(" and ")}, ${plural(zones, "zone")}`;
  return `${machines}; ${phases.join(", ") || "no pods"}; $${price.toFixed(3)} an hour`;
}

it("the page includes each file once, and plays it", () => {
  const included = [...PAGE.matchAll(/^<<< \.\/(examples\/recipes\/\S+)$/gm)].map(([, file = ""]) => `docs/${file}`);
  const all = files.map((file) => `${FOLDER}/${file}`).toSorted();
  expect(included.toSorted()).toEqual(all);
  expect([...new Set(outcomes.map(({ file }) => file))].toSorted()).toEqual(all);
});

it.for(files)("%s can be read, and the schemas of the kinds of ours refuse nothing", (file) => {
  for (const document of parseAllDocuments(readFileSync(`${FOLDER}/${file}`, "utf8"), { merge: true })) {
    expect(document.errors).toEqual([]);
    const object = document.toJS() as { readonly kind: string };
    expect(schemaProblems(object.kind, object)).toEqual([]);
  }
});

it.for(rowsToPlay(outcomes))("$file $args comes to what the page says", async ({ file, args, outcome }) => {
  expect(outcomeOf(await play(file, args))).toBe(outcome);
});
