import { embeddedNodeClaimStore } from "#adapters/store/embedded-store.ts";
import { keepClock } from "#adapters/store/kept-table.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { Pod } from "#core/model/pod.ts";
import { loadManifests, type Manifest, ManifestError } from "#manifests/read.ts";
import { PROGRAM } from "#settings/program.ts";
import { applyManifests } from "./apply.ts";
import { changeLine } from "./change-lines.ts";
import { createLab, type Lab, type LabOptions, type TimedLogRecord } from "./host.ts";
import { type Narrator, narrator } from "./narrator.ts";
import { type RefusedPods, withoutPods } from "./refused-pods.ts";
import { pricesOf } from "./regions.ts";
import { renderCosts, renderNodeClaims } from "./render.ts";
import { type LabReport, labReport } from "./report.ts";
import { runnerUp } from "./runner-up.ts";
import { DEFAULT_POOL, type LabStory } from "./stories.ts";
import { summary } from "./summary.ts";
import { quiet, type Recorder, runUntil, waitFor } from "./virtual-time.ts";
import { isRunSeconds, RUN_SECONDS } from "./world/actors/kubelet.ts";
import type { WorldName } from "./world/times.ts";

export interface PlayOptions {
  /** Print the log as JSON lines, as the Lambda functions write it, in place of the timeline. */
  readonly json: boolean;
  readonly colour: boolean;
  /** Columns of the timeline; 120 when absent. */
  readonly width?: number;
  readonly seed: number;
  readonly region: string;
  /** How long EC2 and pods take; "aws" when absent. */
  readonly world?: WorldName;
  readonly print: (line: string) => void;
  /** Leaves out the DaemonSets that EKS runs on each node. */
  readonly withoutEksDaemons?: boolean;
  /** A new file that keeps the table of the lab. */
  readonly historyFile?: string;
  /** Settings for manifests of the user; they precede the gates that the manifests turn on. */
  readonly settings?: LabOptions["settings"];
  /** Takes what happens, for the page. */
  readonly recorder?: Recorder;
  /** Called with the state at the end of a run of the user's manifests. */
  readonly onReport?: (report: LabReport, lab: Lab) => void | Promise<void>;
}

const START = Date.parse("2026-01-01T09:00:00Z");
const MINUTE_MS = 60_000;

/** A lab with the narrator of its log. */
interface Stage {
  readonly lab: Lab;
  readonly narrator: Narrator;
  readonly options: PlayOptions;
  /** How many pods the functions have evicted so far. */
  readonly evicted: () => number;
}

/** Plays a story and prints it. */
export async function playStory(story: LabStory, options: PlayOptions): Promise<void> {
  const { print } = options;
  if (!options.json) print(`\n${story.title}\n`);
  const stage = open(options, story.settings);
  const { lab } = stage;
  apply(loadManifests(story.manifests, { ...process.env, CLUSTER_NAME: lab.world.cluster }), stage);
  await runUntil(lab.world.clock.now() + MINUTE_MS + 5_000, stage);
  for (const { what, act, until, explainsNodes } of story.acts) {
    say(what, stage);
    const since = lab.world.clock.now();
    act(lab);
    await waitFor(until, what, stage);
    if (!options.json)
      print(`\n${renderNodeClaims(lab.world.store.list("NodeClaim") as readonly NodeClaim[], lab.world.clock.now(), options.width)}\n`);
    const why = explainsNodes && !options.json ? await runnerUp(lab, since, options.width) : undefined;
    if (why !== undefined) print(`${why}\n`);
  }
  await close(stage);
}

/** One --scale option. */
export interface Scaling {
  readonly namespace: string;
  readonly name: string;
  readonly replicas: number;
}

/** Plays manifests of the user: applies them, waits until nothing changes, then applies each scaling in turn. */
export async function playManifests(
  paths: readonly string[],
  scalings: readonly Scaling[],
  minutes: number,
  options: PlayOptions,
): Promise<void> {
  const { region } = options;
  // Manifests for several regions name the region and a zone by placeholders.
  const zone = `${region}a`;
  const places = { AZ: zone, AVAILABILITY_ZONE: zone, ...process.env, AWS_REGION: region, AWS_DEFAULT_REGION: region };
  const leftOut: string[] = [];
  const given = loadManifests(paths, places, (sentence) => void leftOut.push(sentence));
  const unreadable = given.flatMap(({ object, file, line }) => runSecondsProblems(object).map((problem) => `${file}:${line}: ${problem}`));
  if (unreadable.length > 0) throw new ManifestError(unreadable);
  const scaled = scalings.map((scaling) => ({ ...scaling, kind: kindOf(scaling, given) }));
  // A user of these features turns their gates on: without its gate a manifest has no effect.
  const has = (kind: string): boolean => given.some(({ object }) => object.kind === kind);
  const gates = { nodeOverlay: has("NodeOverlay"), capacityBuffer: has("CapacityBuffer"), staticCapacity: given.some(isStaticPool) };
  const stage = open(options, { ...gates, ...options.settings });
  const { lab } = stage;
  const needed = given.some(({ object }) => object.kind === "NodePool")
    ? []
    : loadManifests([DEFAULT_POOL], { CLUSTER_NAME: lab.world.cluster });
  if (!options.json) for (const sentence of leftOut) options.print(`\n${sentence}.`);
  if (pricesOf(region) !== region && !options.json)
    options.print(`\nInstance types and on-demand prices are those of ${pricesOf(region)}.`);
  if (needed.length > 0 && !options.json) {
    options.print(
      "\nThere is no NodePool among them, so the default one is used: on-demand, categories c, m and r, newer than generation 2.\n",
    );
  }
  const refused = apply([...needed, ...given], stage);
  await quiet(minutes, stage);
  for (const { kind, namespace, name, replicas } of scaled) {
    const where = kind === "NodePool" ? "" : `-n ${namespace} `;
    say(`kubectl scale ${where}${kind.toLowerCase()}/${name} --replicas ${replicas}`, stage);
    lab.world.scale(kind, namespace, name, replicas);
    await quiet(minutes, stage);
  }
  stage.narrator.flush();
  const { waiting } = stage.narrator;
  const allRefused = [...refused, ...withoutPods(lab.world)];
  if (!options.json) for (const part of await summary(lab, waiting, allRefused, options.width)) options.print(`\n${part}`);
  if (options.onReport)
    await options.onReport(await labReport(lab, { waiting, refused: allRefused, evicted: stage.evicted(), start: START }), lab);
  await close(stage);
}

/** What is wrong with the annotations that say how long pods run, wherever in the object they are. */
function runSecondsProblems(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === RUN_SECONDS && !isRunSeconds(String(inner))
      ? [`the annotation ${RUN_SECONDS} is ${JSON.stringify(inner)}; write a number of seconds, as in "300"`]
      : runSecondsProblems(inner),
  );
}

const SCALABLE = ["Deployment", "StatefulSet", "ReplicaSet"];

/** A static NodePool has replicas, so it can be scaled too. */
function isStaticPool({ object }: Manifest): boolean {
  const spec = object["spec"] as { readonly replicas?: number } | undefined;
  return object.kind === "NodePool" && spec?.replicas !== undefined;
}

/**
 * The kind of the object to scale. Throws ManifestError before anything is played, because a misspelt name would show
 * only minutes later.
 */
function kindOf({ namespace, name }: Scaling, manifests: readonly Manifest[]): string {
  const scalable = manifests.filter((manifest) => SCALABLE.includes(manifest.object.kind ?? "") || isStaticPool(manifest));
  const all = scalable.map(({ object }) => object);
  const found = all.find(({ metadata }) => metadata.name === name && (metadata.namespace ?? "default") === namespace);
  if (found?.kind !== undefined) return found.kind;
  const names = all.map(({ metadata }) => (metadata.namespace === undefined ? "" : `${metadata.namespace}/`) + metadata.name);
  const fix = names.length === 0 ? "apply its manifest too" : `give one of ${names.slice(0, 5).join(", ")}`;
  throw new ManifestError([
    `--scale: there is no Deployment or StatefulSet "${name}" in namespace "${namespace}" among the manifests; ${fix}`,
  ]);
}

function open(options: PlayOptions, settings: LabOptions["settings"] = {}): Stage {
  const { json, colour, print, width } = options;
  const story = narrator({
    start: START,
    colour,
    // The narrator keeps the reasons of pods with --json too, where it prints nothing.
    print: json ? () => {} : print,
    ...(width !== undefined && { width }),
    ...(options.recorder && { onEntry: options.recorder.tell }),
    pricePerHour: () => lab.cloud.pricePerHour(),
  });
  let evicted = 0;
  const lab: Lab = createLab({
    seed: options.seed,
    start: START,
    region: options.region,
    ...(options.world === "fast" ? { world: "fast" } : { ec2: {} }),
    sources: ["notify"],
    settings,
    ...(options.historyFile !== undefined && { store: embeddedNodeClaimStore({ path: options.historyFile }) }),
    hooks: {
      after: (call, result) => {
        if (call.method !== "evict" || result !== "evicted") return undefined;
        evicted++;
        if (!json) story.say(eviction(call.args[0] as Pod, lab));
        return undefined;
      },
    },
    onLog: (record) => {
      if (json) print(jsonLine(record));
      story.hear(record);
    },
  });
  options.recorder?.begin(lab, START);
  if (!json) {
    lab.world.onChange((change) => {
      const line = changeLine(change);
      if (line) story.say({ at: lab.world.clock.now(), pricePerHour: lab.cloud.pricePerHour(), ...line });
    });
  }
  return { lab, narrator: story, options, evicted: () => evicted };
}

/** Karpenter logs no eviction of a single pod, but the story is about pods. */
const eviction = ({ metadata, spec }: Pod, { world, cloud }: Lab) => ({
  at: world.clock.now(),
  what: "evicted pod",
  which: `${metadata.namespace}/${metadata.name}`,
  why: `from ${spec.nodeName}`,
  pricePerHour: cloud.pricePerHour(),
});

function jsonLine({ at, level, message, fields }: TimedLogRecord): string {
  return JSON.stringify({ level: level.toUpperCase(), time: new Date(at).toISOString(), logger: "controller", message, ...fields });
}

const apply = (manifests: readonly Manifest[], stage: Stage): readonly RefusedPods[] =>
  applyManifests(stage.lab.world, manifests, {
    withoutEksDaemons: stage.options.withoutEksDaemons,
    say: (what, who) => say(what, stage, who),
  });

function say(what: string, { lab: { world, cloud }, narrator: story, options: { json, print } }: Stage, who = "you"): void {
  const entry = { at: world.clock.now(), what: who, which: what, pricePerHour: cloud.pricePerHour() };
  if (json) print(JSON.stringify({ level: "INFO", time: new Date(entry.at).toISOString(), logger: "lab", message: what }));
  else story.say(entry);
}

async function close({ lab, options: { json, print, width, historyFile } }: Stage): Promise<void> {
  if (!json) print(`\n${renderCosts(lab.cloud.costs(), width)}`);
  if (historyFile !== undefined) {
    await keepClock(lab.deps.store, lab.world.clock.now());
    if (!json) print(`\nAsk why: ${PROGRAM} why node/NAME --from ${historyFile}; what happened: ${PROGRAM} history --from ${historyFile}`);
  }
  lab.close();
}
