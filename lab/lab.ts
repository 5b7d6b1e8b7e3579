// The laboratory: plays the real functions against a simulated cluster and cloud, on a virtual clock.
// In: the name of a story, or manifests of one's own. Out: a timeline for people, or the functions' log as JSON lines.
// It imports functions/ and core/, and only tests import it: the functions must not know that they are simulated.

import { existsSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { fitted } from "#core/lib/fitted.ts";
import { nearest } from "#core/lib/nearest.ts";
import { LAB } from "#settings/program.ts";
import { ArgumentError, argumentLines, asksForHelp, parseArguments, twoColumns, wholeNumber } from "#terminal/command-line.ts";
import { settingsOf } from "#terminal/given-settings.ts";
import { type PlayOptions, playManifests, playStory, type Scaling } from "./play.ts";
import { labRegion, pricesOf } from "./regions.ts";
import { WIDTH } from "./render.ts";
import type { LabReport } from "./report.ts";
import { type LabStory, MORE_STORIES, STORIES } from "./stories.ts";
import { DEFAULT_RUN_SECONDS, RUN_SECONDS } from "./world/actors/kubelet.ts";
import { WORLD_TIMES, type WorldName } from "./world/times.ts";

/** The region, unless a story or --region names another. */
const DEFAULT_REGION = "us-west-2";
const DEFAULT_MINUTES = 5;
const DEFAULT_SEED = 1;
const DEFAULT_WORLD: WorldName = "aws";

/** The words that the lab takes. */
export const LAB_ARGUMENTS = {
  usage: LAB,
  positionals: { name: "STORY|FILE", description: "a story by name, or manifests of your own", isRequired: false, isList: true },
  options: {
    scale: {
      type: "list",
      value: "NAME=N",
      description: "then scale this Deployment, StatefulSet or static NodePool (NAMESPACE/NAME=N; may be given several times)",
    },
    history: {
      type: "text",
      value: "FILE",
      description: "keep what was decided in FILE, for the commands why, history and report (--from FILE)",
    },
    setting: {
      type: "list",
      value: "NAME=VALUE",
      description: "a setting of docs/settings.md for your own manifests, FEATURE_GATES too (may be given several times)",
    },
    minutes: {
      type: "text",
      value: "N",
      description: `a step is over when nothing has changed for so many minutes (${DEFAULT_MINUTES})`,
    },
    region: {
      type: "text",
      value: "NAME",
      description: `any commercial region (${DEFAULT_REGION}; ap-northeast-2 in replace and spot-to-spot)`,
    },
    seed: { type: "text", value: "N", description: `the seed of all random choices (${DEFAULT_SEED})` },
    world: {
      type: "text",
      value: "NAME",
      description: `"aws": machines end after 30 to 90 seconds, pods stay for their grace period, boots vary, EC2 keeps its limits of requests and shows changes late; "fast": short times, for stories that need none of this (${DEFAULT_WORLD})`,
    },
    "no-eks-daemons": {
      type: "flag",
      description: "leave out the DaemonSets that EKS runs on each node: aws-node, kube-proxy, ebs-csi-node, eks-pod-identity-agent",
    },
    report: { type: "text", value: "FILE", description: "write the state at the end of your own manifests to this file as JSON" },
    json: { type: "flag", description: "the functions' log as JSON lines" },
    view: {
      type: "flag",
      description: "play it, then show it in the browser: a page of this machine with a time line to play and to scrub",
    },
    port: { type: "text", value: "N", description: "with --view: the port of the page (a free one)" },
    open: { type: "flag", description: "with --view: open the page in the browser" },
  },
} as const;

/** Whether colours are shown: on a terminal, unless NO_COLOR is set to anything (https://no-color.org). */
export function hasColour({ isTTY = false }: { readonly isTTY?: boolean }, { NO_COLOR = "" }: { readonly NO_COLOR?: string }): boolean {
  return isTTY && NO_COLOR === "";
}

/** The page of --help. */
export function labHelp(width = columns(process.stdout)): string {
  const forms = [
    [LAB.replace(/ --$/, ""), "three short stories on the real EC2 catalogue"],
    [`${LAB} STORY`, `one of ${[...STORIES, ...MORE_STORIES].map(({ name }) => name).join(", ")}`],
    [`${LAB} FILE|FOLDER...`, 'your own manifests ("-" is standard input)'],
  ] as const;
  const jobs = [
    `The pods of Jobs and CronJobs succeed after ${DEFAULT_RUN_SECONDS} seconds; the annotation ${RUN_SECONDS}: "300"`,
    "on a pod template sets another time.",
  ];
  return `${fitted([...twoColumns(forms, width), "", ...argumentLines({ options: LAB_ARGUMENTS.options }, width), "", ...jobs].join("\n"), width)}\n`;
}

/** Plays what the words ask for. Throws ArgumentError or ManifestError where they, or manifests, are wrong. */
export async function runLab(args: readonly string[]): Promise<void> {
  if (asksForHelp(args)) {
    process.stdout.write(labHelp());
    return;
  }
  const { values, positionals } = parseArguments(LAB_ARGUMENTS, args);
  const region = values.region === undefined ? undefined : labRegion(values.region);
  const options: PlayOptions = {
    json: values.json,
    colour: !values.json && hasColour(process.stdout, process.env),
    seed: wholeNumber(values.seed ?? DEFAULT_SEED, "--seed"),
    region: region ?? DEFAULT_REGION,
    world: worldOf(values.world ?? DEFAULT_WORLD),
    width: columns(process.stdout),
    print: (text) => void process.stdout.write(`${values.json ? text : shown(text, process.stdout)}\n`),
    withoutEksDaemons: values["no-eks-daemons"],
    ...(values.history !== undefined && { historyFile: historyFile(values.history) }),
  };
  const story = storyOf(positionals);
  if (values.view && values.json) throw new ArgumentError("--view shows a page and --json prints a log; give one of them");
  if (!values.view && (values.open || values.port !== undefined))
    throw new ArgumentError(`--${values.open ? "open" : "port"} is for the page; add --view`);
  if (story === undefined) refuseMistypedStory(positionals);
  if (positionals.length > 0 && story === undefined) {
    const minutes = wholeNumber(values.minutes ?? DEFAULT_MINUTES, "--minutes");
    const { settings, unused } = settingsOf(values.setting);
    const onReport = values.report === undefined ? undefined : reportTo(values.report);
    if (!options.json) for (const name of unused) options.print(`The setting ${name} has no effect in the lab.`);
    const play = (more: Partial<PlayOptions>) =>
      playManifests(positionals, values.scale.map(scaling), minutes, { ...options, settings, ...(onReport && { onReport }), ...more });
    if (values.view)
      return await viewed(`The lab: ${positionals.join(" ")}`, values, options, async (record) => {
        await play({ ...record("manifests", positionals.join(" ")) });
      });
    await play({});
    if (!options.json && values.scale.length === 0) options.print("\nTry next: --scale NAME=N to see the cluster follow a Deployment.");
    return;
  }
  const idle = [
    values.scale.length > 0 ? "--scale" : [],
    values.minutes !== undefined ? "--minutes" : [],
    values.setting.length > 0 ? "--setting" : [],
    values.report !== undefined ? "--report" : [],
  ].flat()[0];
  if (idle !== undefined) throw new ArgumentError(`${idle} is for your own manifests; name their files or folders too`);
  if (options.historyFile !== undefined && story === undefined)
    throw new ArgumentError("--history keeps one story; name it, as in npm start -- replace --history lab.db");
  const stories = (story ? [story] : STORIES).map((each) => ({ ...each, region: region ?? each.region ?? DEFAULT_REGION }));
  if (values.view)
    return await viewed("The lab", values, options, async (record) => {
      for (const each of stories) await playStory(each, { ...options, region: each.region, ...record(each.name, each.title) });
    });
  if (!options.json) {
    const where = [...new Set(stories.map((each) => pricesOf(each.region)))].join(" and ");
    options.print(
      `The real handlers on a virtual clock; EC2 and the cluster are simulated, types and on-demand prices are those of ${where} (spot prices are made up).`,
    );
  }
  for (const each of stories) await playStory(each, { ...options, region: each.region });
  if (!options.json) options.print(`\nTry next: ${LAB} your-manifests/ --scale NAME=10 plays your own cluster's manifests.`);
}

function worldOf(text: string): WorldName {
  if (Object.hasOwn(WORLD_TIMES, text)) return text as WorldName;
  throw new ArgumentError(`--world: there is no world ${text}; give ${Object.keys(WORLD_TIMES).join(" or ")}`);
}

/** Options of a run whose frames are kept for the page. */
type Record = (name: string, title: string) => Pick<PlayOptions, "recorder" | "print" | "colour">;

/** Plays without printing the story, then shows it in the browser until Ctrl-C. */
async function viewed(
  title: string,
  { port, open }: { readonly port: string | undefined; readonly open: boolean },
  { print }: PlayOptions,
  play: (record: Record) => Promise<void>,
): Promise<void> {
  const number = port === undefined ? {} : { port: wholeNumber(port, "--port") };
  const [{ recording, showRecording }, { PortError }] = await Promise.all([import("./view.ts"), import("#console/server/serve.ts")]);
  const kept = recording(title);
  print("Playing on a virtual clock …");
  await play((name, story) => ({ recorder: kept.record(name, story), colour: false, print: () => {} }));
  try {
    await showRecording(kept, { ...number, opens: open, print });
  } catch (error) {
    throw error instanceof PortError ? new ArgumentError(error.message) : error;
  }
}

/** Throws ArgumentError before anything is played when the file cannot be meant. */
function historyFile(file: string): string {
  if (existsSync(file)) throw new ArgumentError(`--history: there is a file ${file} already; remove it, or name another file`);
  const folder = dirname(file);
  if (!existsSync(folder)) throw new ArgumentError(`--history: there is no folder ${folder}; create it, or name another file`);
  return file;
}

/** Writes a report to a file. Throws ArgumentError before anything is played when the file cannot be meant. */
function reportTo(file: string): (report: LabReport) => void {
  if (file === "-")
    throw new ArgumentError("--report takes a file, because standard output has the story; name one, such as --report report.json");
  const folder = dirname(file);
  if (!existsSync(folder)) throw new ArgumentError(`--report: there is no folder ${folder}; create it, or name another file`);
  return (report) => {
    try {
      writeFileSync(file, `${JSON.stringify(report, undefined, 2)}\n`);
    } catch (error) {
      throw new ArgumentError(`--report: ${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
}

/** A story by its name. A file or folder of that name comes first. */
function storyOf([name, ...others]: readonly string[]): LabStory | undefined {
  if (name === undefined || others.length > 0 || existsSync(name)) return undefined;
  return [...STORIES, ...MORE_STORIES].find((story) => story.name === name);
}

/** A word without a path or an ending, where there is no such file, was meant as a story. Throws ArgumentError. */
function refuseMistypedStory([name, ...others]: readonly string[]): void {
  if (name === undefined || others.length > 0 || !/^[\w-]+$/.test(name) || name === "-" || existsSync(name)) return;
  const names = [...STORIES, ...MORE_STORIES].map((story) => story.name);
  const near = nearest(name, names);
  throw new ArgumentError(
    `there is no story, file or folder ${name}; the stories are ${names.join(", ")}${near === undefined ? "" : `; did you mean ${near}?`}`,
  );
}

/** The width of a terminal, between 60 and 120 columns; 120 when the output is no terminal. */
function columns({ isTTY, columns: given }: Screen): number {
  return isTTY === true && given !== undefined && given > 0 ? Math.min(WIDTH, Math.max(60, given)) : WIDTH;
}

/** What the lab asks of a stream. */
interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** A text as a stream shows it: long lines are broken on a terminal, and stay whole in a pipe. */
export function shown(text: string, screen: Screen): string {
  if (screen.isTTY !== true) return text;
  const width = columns(screen);
  // Colours take no room; the lines that have them fit already.
  return text
    .split("\n")
    .map((line) => (stripVTControlCharacters(line).length <= width ? line : fitted(line, width)))
    .join("\n");
}

function scaling(text: string): Scaling {
  const [, namespace = "default", name, replicas] = /^(?:([^/=]+)\/)?([^/=]+)=(\d+)$/.exec(text) ?? [];
  if (name === undefined) throw new ArgumentError(`--scale takes NAME=N or NAMESPACE/NAME=N, not "${text}"`);
  return { namespace, name, replicas: Number(replicas) };
}
