import type { Node } from "../../../core/model/node.ts";
import type { NodeClaim } from "../../../core/model/node-claim.ts";
import type { Pod } from "../../../core/model/pod.ts";
import { createLab, type Lab, type TimedLogRecord } from "./host.ts";
import { loadManifests, type Manifest } from "./manifests.ts";
import { renderCosts, renderEntry, renderNodeClaims, renderNodes } from "./render.ts";
import type { LabStory } from "./stories.ts";
import { entryOf } from "./timeline.ts";

export interface PlayOptions {
  /** JSON lines, as the Lambda functions would log them, in place of the timeline. */
  readonly json: boolean;
  readonly colour: boolean;
  readonly seed: number;
  readonly region: string;
  readonly print: (line: string) => void;
}

const START = Date.parse("2026-01-01T09:00:00Z");
const MINUTE_MS = 60_000;

/** The longest that an act is waited for; then the story goes on, and says so. */
const PATIENCE_MS = 30 * MINUTE_MS;

/** Plays a story and prints it. */
export async function playStory(story: LabStory, options: PlayOptions): Promise<void> {
  const { print } = options;
  if (!options.json) print(`\n${story.title}\n`);
  const lab = open(options);
  apply(loadManifests(story.manifests, { ...process.env, CLUSTER_NAME: lab.world.cluster }), lab, options);
  await lab.world.clock.run({ until: lab.world.clock.now() + MINUTE_MS + 5_000 });
  for (const { what, act, until } of story.acts) {
    say(what, lab, options);
    act(lab);
    await waitFor(until, what, lab, options);
    if (!options.json) print(`\n${renderNodeClaims(lab.world.store.list("NodeClaim") as readonly NodeClaim[], lab.world.clock.now())}\n`);
  }
  close(lab, options);
}

export interface Scaling {
  readonly namespace: string;
  readonly name: string;
  readonly replicas: number;
}

const DEFAULT_POOL = new URL("./stories/default.yaml", import.meta.url).pathname;

/** Plays a person's own manifests: applies them, waits until nothing moves, then does each scaling in turn. */
export async function playManifests(
  paths: readonly string[],
  scalings: readonly Scaling[],
  minutes: number,
  options: PlayOptions,
): Promise<void> {
  const given = loadManifests(paths, process.env);
  const lab = open(options);
  const needed = given.some(({ object }) => object.kind === "NodePool")
    ? []
    : loadManifests([DEFAULT_POOL], { CLUSTER_NAME: lab.world.cluster });
  if (needed.length > 0 && !options.json) {
    options.print(
      "\nThere is no NodePool among them, so the default one is used: on-demand, categories c, m and r, newer than generation 2.\n",
    );
  }
  apply([...needed, ...given], lab, options);
  await quiet(minutes, lab);
  for (const { namespace, name, replicas } of scalings) {
    say(`kubectl scale -n ${namespace} deployment/${name} --replicas ${replicas}`, lab, options);
    lab.world.scale("Deployment", namespace, name, replicas);
    await quiet(minutes, lab);
  }
  if (!options.json) summary(lab, options);
  close(lab, options);
}

function open(options: PlayOptions): Lab {
  const lab: Lab = createLab({
    seed: options.seed,
    start: START,
    region: options.region,
    sources: ["notify"],
    hooks: {
      after: (call, result) =>
        call.method === "evict" && result === "evicted" ? sayEvicted(call.args[0] as Pod, lab, options) : undefined,
    },
    onLog: (record) => (options.json ? options.print(jsonLine(record)) : printEntry(record, lab, options)),
  });
  return lab;
}

/** No log line of Karpenter's tells of single pods, but the story is about them. */
function sayEvicted({ metadata, spec }: Pod, { world, cloud }: Lab, { json, print, colour }: PlayOptions): undefined {
  const entry = {
    at: world.clock.now(),
    what: "evicted pod",
    which: `${metadata.namespace}/${metadata.name}`,
    why: `from ${spec.nodeName}`,
  };
  if (!json) print(renderEntry({ ...entry, pricePerHour: cloud.pricePerHour() }, { start: START, colour }));
}

function printEntry(record: TimedLogRecord, lab: Lab, { print, colour }: PlayOptions): void {
  const entry = entryOf(record, lab.cloud.pricePerHour());
  if (entry) print(renderEntry(entry, { start: START, colour }));
}

function jsonLine({ at, level, message, fields }: TimedLogRecord): string {
  return JSON.stringify({ level: level.toUpperCase(), time: new Date(at).toISOString(), logger: "controller", message, ...fields });
}

function apply(manifests: readonly Manifest[], lab: Lab, options: PlayOptions): void {
  for (const { object } of manifests) {
    lab.world.apply(object);
    say(`kubectl apply: ${object.kind}/${object.metadata.name}`, lab, options);
  }
}

function say(what: string, { world, cloud }: Lab, { json, print, colour }: PlayOptions): void {
  const entry = { at: world.clock.now(), what: "you", which: what, pricePerHour: cloud.pricePerHour() };
  print(
    json
      ? JSON.stringify({ level: "INFO", time: new Date(entry.at).toISOString(), logger: "lab", message: what })
      : renderEntry(entry, { start: START, colour }),
  );
}

async function waitFor(until: (lab: Lab) => boolean, what: string, lab: Lab, options: PlayOptions): Promise<void> {
  const { clock } = lab.world;
  const limit = clock.now() + PATIENCE_MS;
  while (!until(lab) && clock.now() < limit) await clock.run({ until: clock.now() + 1_000 });
  if (!until(lab))
    options.print(
      `After ${PATIENCE_MS / MINUTE_MS} minutes the cluster is not as expected after "${what}": this is a fault of the lab or the product.`,
    );
}

/** Until pods, nodes and claims have stayed the same for so long. */
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

function summary(lab: Lab, { print }: PlayOptions): void {
  const { store, clock } = lab.world;
  const pods = store.list("Pod") as readonly Pod[];
  print(`\n${renderNodeClaims(store.list("NodeClaim") as readonly NodeClaim[], clock.now())}`);
  print(`\n${renderNodes(store.list("Node") as readonly Node[], pods, clock.now())}`);
  const waiting = pods.filter(({ status }) => status?.phase === "Pending");
  if (waiting.length === 0) return;
  print(`\n${waiting.length} pod(s) are pending. Why:`);
  for (const { metadata } of waiting.slice(0, 10)) {
    const event = lab.world.events.findLast(({ about, reason }) => about.metadata.uid === metadata.uid && reason === "FailedScheduling");
    print(`  ${metadata.namespace}/${metadata.name}: ${event?.message ?? "kube-scheduler has not looked at it yet"}`);
  }
}

function close(lab: Lab, { json, print }: PlayOptions): void {
  if (!json) print(`\n${renderCosts(lab.cloud.costs())}`);
  lab.close();
}
