import { bundledCatalogue } from "#adapters/catalogue/bundled.ts";
import type { Pod } from "#core/model/pod.ts";
import type { Taint } from "#core/model/taint.ts";
import type { Catalogue } from "#core/offerings/catalogue.ts";
import { createLab, type Lab, type LabOptions, type TimedLogRecord } from "#lab/host.ts";
import { isPreempted } from "#lab/world/actors/preemption.ts";
import { currentInvocation, type Invocation } from "#lab/world/invocation.ts";
import { type Random, seeded } from "#lab/world/random.ts";
import type { MutableObject } from "#lab/world/store.ts";
import { perform } from "./act.ts";
import { STARTUP_TAINT } from "./draw/world.ts";
import { elementsOf } from "./elements.ts";
import { injector } from "./faults/injector.ts";
import { losableTable } from "./faults/losable-table.ts";
import { sleepIn } from "./faults/table-faults.ts";
import { COMES_TO_REST, INVARIANTS, NOTHING_THROWS, WHILE_PAUSED } from "./invariants/all.ts";
import { history } from "./invariants/history.ts";
import { CHECK_MS, look, type Scene } from "./invariants/invariant.ts";
import { unrest } from "./invariants/rest.ts";
import { NEIGHBOUR, settle } from "./neighbour.ts";
import { observer, type Violation } from "./observe.ts";
import { endPauses } from "./pauses.ts";
import { isFault, type Script, skewOf } from "./script.ts";
import { SECOND, settleSecond } from "./second-cluster.ts";
import { START } from "./story.ts";
import { bothVersions, type OtherVersion } from "./versions.ts";

/** The result of a run. */
export interface RunResult {
  /** The first broken invariants, with which the run ended; empty when no invariant was broken. */
  readonly violations: readonly Violation[];
  /** Virtual hours, including the time to come to rest. */
  readonly hours: number;
  /** Faults that took effect, by kind. */
  readonly faults: ReadonlyMap<string, number>;
  readonly machines: number;
  /** Pods that gave way to a pod of higher priority. */
  readonly preempted: number;
  /** How often what only some stacks have was played, by kind (elements.ts). */
  readonly elements: ReadonlyMap<string, number>;
  /** Remote calls of all handlers, by port and method. */
  readonly calls: ReadonlyMap<string, number>;
  /** How often messages of one chain ran each function, at most. */
  readonly chains: ReadonlyMap<string, number>;
  /** How often Lambda has stopped a chain at each function. */
  readonly stopped: ReadonlyMap<string, number>;
}

const HOUR_MS = 3_600_000;
/** Messages of one invocation (infra/stack.ts). */
const BATCH_SIZE = 10;
/** How long the world may take to come to rest after the last fault: a command may wait an hour for a replacement. */
const REST_MS = 3 * HOUR_MS;

/** Enough types for a choice, and few enough for thousands of virtual hours. */
const CATALOGUE: Catalogue = (() => {
  const all = bundledCatalogue("us-west-2", { withSyntheticSpot: true });
  return { ...all, types: all.types.filter(({ name }) => /^[cm]5\.(large|xlarge|2xlarge)$/.test(name)) };
})();

export interface PlayOptions {
  /** The instance types on offer; a few types by default. */
  readonly catalogue?: Catalogue;
  /** Settings on top of the lab's own. */
  readonly settings?: LabOptions["settings"];
  /** Makes the memory of a process for a cluster. */
  readonly newMemory?: LabOptions["newMemory"];
  /** RecursiveLoop of the functions; as in the template by default. */
  readonly recursiveLoop?: LabOptions["recursiveLoop"];
  /** A version whose code runs beside this one's; which of the two an invocation gets is drawn. */
  readonly beside?: OtherVersion;
  /** Called before the world contains any object. */
  readonly onStart?: (lab: Lab) => void;
  /** Called for each log line of the product. */
  readonly onLog?: (record: TimedLogRecord) => void;
  /** Called at the end of the run. */
  readonly onEnd?: (lab: Lab) => void;
}

/** Plays a script until the world is at rest or an invariant is broken. Equal scripts have equal results. */
export async function play(script: Script, options: PlayOptions = {}): Promise<RunResult> {
  const { catalogue = CATALOGUE, settings, newMemory, recursiveLoop, beside, onStart, onLog, onEnd } = options;
  const { features = {} } = script;
  const random = seeded(script.chance).fork("simulation");
  const others = new WeakSet<Invocation>();
  const watching = observer(() => others.has(currentInvocation() ?? NOBODY), script.pauses ? WHILE_PAUSED : INVARIANTS);
  const faults = injector(
    () => lab,
    () => table,
    random.fork("faults"),
  );
  const table = losableTable({ now: () => lab.world.clock.now(), faults: faults.table, sleep: sleepIn(() => lab.world.clock) });
  const versions = new Map<string, number>();
  const lab: Lab = createLab({
    seed: script.chance,
    start: START,
    region: "us-west-2",
    world: script.world,
    sources: script.sources,
    catalogue,
    // From two on, so that most runs launch some together.
    settings: { launchTogether: 2, ...features.gates, ...settings },
    store: table,
    ...(features.batches && { batchSize: BATCH_SIZE }),
    ...(features.buckets && { ec2: {} }),
    ...(features.neighbour && { neighbours: [NEIGHBOUR] }),
    ...(features.second && { second: SECOND }),
    isThrottled: faults.isThrottled,
    isFrozen: faults.isFrozen,
    cloudLagMs: script.cloudLagMs,
    hooks: watching.around(faults.hooks),
    skewMs: faults.skewMs,
    joinDelayMs: faults.joinDelayMs,
    isUnlisted: faults.isUnlisted,
    staleMs: faults.staleMs,
    ...(beside && { entries: bothVersions(beside, isOther(random.fork("versions"), versions, others)) }),
    ...(onLog && { onLog }),
    ...(newMemory && { newMemory }),
    ...(recursiveLoop && { recursiveLoop }),
  });
  const { clock } = lab.world;
  const { keepsHistory = true, keepsDestinations = true } = beside ?? {};
  const scene: Scene = { lab, table, faults, history: history(clock, skewOf(script)), keepsHistory, keepsDestinations };
  watching.watch(scene);
  let preempted = 0;
  lab.world.onChange(({ kind, type, object, old }) => {
    if (kind === "Pod" && type === "MODIFIED" && isPreempted(object as Pod) && !isPreempted(old as Pod)) preempted++;
  });
  onStart?.(lab);
  startAgents(lab, random.fork("agents"));
  lab.cloud.reservations.push(...(features.reservations ?? []));
  if (features.neighbour) await settle(table);
  settleSecond(lab);
  const elements = elementsOf(scene);
  if (script.interleaved) {
    const order = random.fork("order");
    clock.interleave((labels) => order.between(0, labels.length - 1));
  }
  for (const object of script.objects) lab.world.apply(object);
  for (const event of script.events) {
    clock.at(START + event.at * 1_000, event.what, () => (isFault(event) ? faults.begin(event) : perform(event, lab)));
  }
  clock.every(CHECK_MS, "invariants", () => watching.check());

  const broken = (): boolean => watching.violations.length > 0;
  try {
    await clock.run({ until: broken, latest: START + script.minutes * 60_000 });
    if (!broken()) {
      faults.stop();
      endPauses(lab);
      await comeToRest(scene, broken, (detail) => watching.report(COMES_TO_REST.name, detail));
      if (!broken()) await watching.finish();
    }
  } catch (error) {
    watching.report(NOTHING_THROWS.name, error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  const { violations } = watching;
  const outcome = {
    violations,
    hours: (clock.now() - START) / HOUR_MS,
    faults: faults.counts,
    machines: lab.cloud.machines().length,
    preempted,
    elements: new Map([...elements(), ...versions]),
    calls: lab.calls,
    chains: lab.chains.longest,
    stopped: lab.chains.stopped,
  };
  onEnd?.(lab);
  lab.close();
  return outcome;
}

const NOBODY = {} as Invocation;

/** Draws the version of an invocation, and counts both. `others` gets the invocations of the other version. */
const isOther = (random: Random, counts: Map<string, number>, others: WeakSet<Invocation>) => (): boolean => {
  const other = random.next() < 0.5;
  if (other) others.add(currentInvocation() ?? NOBODY);
  const kind = other ? "invocations of the other version" : "invocations of this version";
  counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return other;
};

/** The agents whose startup taint keeps pods off a node until they run. */
function startAgents({ world }: Lab, random: Random): void {
  const starting = new Set<string>();
  const isTainted = (node: MutableObject): boolean => node.spec?.taints?.some(({ key }: Taint) => key === STARTUP_TAINT.key) ?? false;
  world.onChange(({ kind, type, object }) => {
    const { name } = object.metadata;
    if (kind !== "Node" || type === "DELETED" || starting.has(name) || !isTainted(object)) return;
    starting.add(name);
    world.clock.after(random.pick([1_000, 20_000, 50_000]), `agent on ${name}`, () => {
      starting.delete(name);
      world.store.patch("Node", name, undefined, { user: "system:serviceaccount:kube-system:agent" }, (node: MutableObject) => {
        node.spec.taints = node.spec.taints.filter(({ key }: Taint) => key !== STARTUP_TAINT.key);
        return node;
      });
    });
  });
}

/**
 * At the end EC2 has capacity again, and users remove what blocks drains, because otherwise those nodes would stay for
 * ever.
 */
function removeDrainBlockers(lab: Lab): void {
  const { world, cloud } = lab;
  cloud.outages.length = 0;
  for (const { metadata } of world.store.list("PodDisruptionBudget"))
    world.delete("PodDisruptionBudget", metadata.name, metadata.namespace);
  const pods = world.store.list("Pod");
  pods.forEach(({ metadata }, i) => {
    if (metadata.annotations?.["karpenter.sh/do-not-disrupt"] !== undefined)
      perform({ what: "hold pod", pick: (i + 0.5) / pods.length, value: undefined }, lab);
  });
}

/** Passes time until the world is at rest; reports what is not at rest when `REST_MS` are over. */
async function comeToRest(scene: Scene, broken: () => boolean, failed: (detail: string) => void): Promise<void> {
  const { lab } = scene;
  const { clock } = scene.lab.world;
  const latest = clock.now() + REST_MS;
  let left: readonly string[] = [];
  while (clock.now() < latest) {
    // Workloads create pods from their templates, and with them protected pods again.
    removeDrainBlockers(scene.lab);
    await clock.run({ until: broken, latest: clock.now() + CHECK_MS });
    if (broken()) return;
    left = [...unrest(await look(scene)), ...(lab.second ? unrest(await look(scene, lab.second)) : [])];
    if (left.length === 0) return;
  }
  failed(
    `${REST_MS / HOUR_MS} hours after the last fault ${left.slice(0, 4).join("; ")}${left.length > 4 ? `; and ${left.length - 4} more` : ""}`,
  );
}
