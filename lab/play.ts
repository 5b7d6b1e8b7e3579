import { fileURLToPath } from "node:url";
import type { NodeClaim } from "../core/model/node-claim.ts";
import type { Pod } from "../core/model/pod.ts";
import { isNamespaced } from "../functions/adapters/manifests/api-object.ts";
import { loadManifests, type Manifest, ManifestError } from "../functions/adapters/manifests/read.ts";
import { createLab, type Lab, type LabOptions, type TimedLogRecord } from "./host.ts";
import { type Narrator, narrator } from "./narrator.ts";
import { renderCosts, renderNodeClaims } from "./render.ts";
import { runnerUp } from "./runner-up.ts";
import type { LabStory } from "./stories.ts";
import { summary } from "./summary.ts";

export interface PlayOptions {
  /** Print the log as JSON lines, as the Lambda functions write it, in place of the timeline. */
  readonly json: boolean;
  readonly colour: boolean;
  /** Columns of the timeline; 120 when absent. */
  readonly width?: number;
  readonly seed: number;
  readonly region: string;
  readonly print: (line: string) => void;
}

const START = Date.parse("2026-01-01T09:00:00Z");
const MINUTE_MS = 60_000;

/** How long an act may take until its condition holds. The story continues then, and reports it. */
const MAX_ACT_MS = 30 * MINUTE_MS;

/** A lab with the narrator of its log. */
interface Stage {
  readonly lab: Lab;
  readonly narrator: Narrator;
  readonly options: PlayOptions;
}

/** Plays a story and prints it. */
export async function playStory(story: LabStory, options: PlayOptions): Promise<void> {
  const { print } = options;
  if (!options.json) print(`\n${story.title}\n`);
  const stage = open(options, story.settings);
  const { lab } = stage;
  apply(loadManifests(story.manifests, { ...process.env, CLUSTER_NAME: lab.world.cluster }), stage);
  await lab.world.clock.run({ until: lab.world.clock.now() + MINUTE_MS + 5_000 });
  for (const { what, act, until, explainsNodes } of story.acts) {
    say(what, stage);
    const since = lab.world.clock.now();
    act(lab);
    await waitFor(until, what, stage);
    if (!options.json) print(`\n${renderNodeClaims(lab.world.store.list("NodeClaim") as readonly NodeClaim[], lab.world.clock.now())}\n`);
    const why = explainsNodes && !options.json ? await runnerUp(lab, since) : undefined;
    if (why !== undefined) print(`${why}\n`);
  }
  close(stage);
}

/** One --scale option. */
export interface Scaling {
  readonly namespace: string;
  readonly name: string;
  readonly replicas: number;
}

const DEFAULT_POOL = fileURLToPath(new URL("./stories/default.yaml", import.meta.url));

/** Plays manifests of the user: applies them, waits until nothing changes, then applies each scaling in turn. */
export async function playManifests(
  paths: readonly string[],
  scalings: readonly Scaling[],
  minutes: number,
  options: PlayOptions,
): Promise<void> {
  const given = loadManifests(paths, process.env);
  const scaled = scalings.map((scaling) => ({ ...scaling, kind: kindOf(scaling, given) }));
  // A user of these features turns their gates on: without its gate a manifest has no effect.
  const has = (kind: string): boolean => given.some(({ object }) => object.kind === kind);
  const gates = { nodeOverlay: has("NodeOverlay"), capacityBuffer: has("CapacityBuffer"), staticCapacity: given.some(isStaticPool) };
  const stage = open(options, gates);
  const { lab } = stage;
  const needed = given.some(({ object }) => object.kind === "NodePool")
    ? []
    : loadManifests([DEFAULT_POOL], { CLUSTER_NAME: lab.world.cluster });
  if (needed.length > 0 && !options.json) {
    options.print(
      "\nThere is no NodePool among them, so the default one is used: on-demand, categories c, m and r, newer than generation 2.\n",
    );
  }
  apply([...needed, ...given], stage);
  await quiet(minutes, lab);
  for (const { kind, namespace, name, replicas } of scaled) {
    const where = kind === "NodePool" ? "" : `-n ${namespace} `;
    say(`kubectl scale ${where}${kind.toLowerCase()}/${name} --replicas ${replicas}`, stage);
    lab.world.scale(kind, namespace, name, replicas);
    await quiet(minutes, lab);
  }
  stage.narrator.flush();
  if (!options.json) for (const part of await summary(lab, stage.narrator.waiting)) options.print(`\n${part}`);
  close(stage);
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
    print,
    ...(width !== undefined && { width }),
    pricePerHour: () => lab.cloud.pricePerHour(),
  });
  const lab: Lab = createLab({
    seed: options.seed,
    start: START,
    region: options.region,
    sources: ["notify"],
    settings,
    hooks: {
      after: (call, result) => {
        if (!json && call.method === "evict" && result === "evicted") story.say(eviction(call.args[0] as Pod, lab));
        return undefined;
      },
    },
    onLog: (record) => (json ? print(jsonLine(record)) : story.hear(record)),
  });
  return { lab, narrator: story, options };
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

/** Kinds that the actors of the lab or the functions read. The lab stores other kinds unchanged. */
const PLAYED = new Set([
  ...["Namespace", "PriorityClass", "StorageClass", "EC2NodeClass", "NodePool", "NodeClaim", "Node", "PersistentVolume", "CSINode"],
  ...["NodeOverlay", "CapacityBuffer", "PodTemplate"],
  ...["PersistentVolumeClaim", "Pod", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "PodDisruptionBudget"],
]);

function apply(manifests: readonly Manifest[], stage: Stage): void {
  for (const { object } of manifests) {
    const { kind = "", metadata } = object;
    stage.lab.world.apply(object);
    const namespace =
      isNamespaced({ kind, namespace: metadata.namespace }) && metadata.namespace !== undefined ? ` -n ${metadata.namespace}` : "";
    say(`kubectl apply${namespace}: ${kind}/${metadata.name}${PLAYED.has(kind) ? "" : " (has no part in the lab)"}`, stage);
  }
}

function say(what: string, { lab: { world, cloud }, narrator: story, options: { json, print } }: Stage): void {
  const entry = { at: world.clock.now(), what: "you", which: what, pricePerHour: cloud.pricePerHour() };
  if (json) print(JSON.stringify({ level: "INFO", time: new Date(entry.at).toISOString(), logger: "lab", message: what }));
  else story.say(entry);
}

async function waitFor(until: (lab: Lab) => boolean, what: string, { lab, narrator: story, options }: Stage): Promise<void> {
  const { clock } = lab.world;
  const limit = clock.now() + MAX_ACT_MS;
  while (!until(lab) && clock.now() < limit) await clock.run({ until: clock.now() + 1_000 });
  story.flush();
  if (!until(lab))
    options.print(
      `After ${MAX_ACT_MS / MINUTE_MS} minutes the cluster is not as expected after "${what}": this is a fault of the lab or the product.`,
    );
}

/** Runs until pods, nodes and claims have stayed the same for so many minutes, a day at most. */
async function quiet(minutes: number, lab: Lab): Promise<void> {
  const { clock } = lab.world;
  let before = "";
  for (let waited = 0; waited < 24 * 60; waited += minutes) {
    await clock.run({ until: clock.now() + minutes * MINUTE_MS });
    const now = fingerprint(lab);
    if (now === before) return;
    before = now;
  }
}

function fingerprint({ world }: Lab): string {
  const pods = (world.store.list("Pod") as readonly Pod[]).map(
    ({ metadata, spec, status }) => `${metadata.uid} ${spec.nodeName} ${status?.phase}`,
  );
  const nodes = world.store.list("Node").map(({ metadata }) => `${metadata.uid} ${metadata.deletionTimestamp}`);
  const claims = world.store.list("NodeClaim").map(({ metadata }) => `${metadata.uid} ${metadata.deletionTimestamp}`);
  return [...pods, ...nodes, ...claims].sort().join("\n");
}

function close({ lab, options: { json, print } }: Stage): void {
  if (!json) print(`\n${renderCosts(lab.cloud.costs())}`);
  lab.close();
}
