import type { DemandChange } from "#core/insight/observed/demand.ts";
import { TRACED_KINDS, type Trace, type TracedKind, type TraceEntry, TraceWriter } from "#core/insight/observed/trace.ts";
import type { KubernetesObject } from "#core/model/kubernetes.ts";
import type { Catalogue } from "#core/offerings/catalogue.ts";
import type { Settings } from "#functions/shared/cluster-deps.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { createLab, type Lab } from "../host.ts";
import { RUN_SECONDS } from "../world/actors/kubelet.ts";
import { USER } from "../world/world.ts";

/** How long the simulated cluster comes to rest with the first demand before it is compared, ms. */
const SETTLE_MS = 30 * 60_000;

interface ReplayOptions {
  /** The header of the trace that is replayed. */
  readonly header: Trace["header"];
  readonly catalogue: Catalogue;
  readonly settings?: Partial<Settings>;
  readonly seed: number;
  /** How long machines took to join, ms; those of the world "aws" when there are none. */
  readonly boots: readonly number[];
  /** When the demand begins and ends, ms since the epoch. */
  readonly from: number;
  readonly to: number;
}

/** What came of a replay. */
interface Replay {
  readonly trace: Trace;
  /** Objects that the simulated API server refused or cannot play, and why; each once. */
  readonly refused: readonly string[];
}

/**
 * Plays the demand of a cluster in a simulated one that karpenter-serverless serves, and records it as the real one was
 * recorded. The simulated cluster gets the first demand half an hour earlier, so that it begins at rest.
 */
export async function replay(demand: readonly DemandChange[], options: ReplayOptions): Promise<Replay> {
  const { from, to, header } = options;
  const { everyMs, region } = header;
  const { boots } = options;
  const lab = createLab({
    ...{ seed: options.seed, start: from - SETTLE_MS, region, cluster: header.cluster, catalogue: options.catalogue },
    ...(boots.length > 0 && { joinMs: (random) => boots[random.between(0, boots.length - 1)] ?? 0 }),
    ...{ world: "aws", ec2: {}, sources: ["notify"], settings: options.settings ?? {} },
  });
  const refused = new Set<string>();
  const { clock } = lab.world;
  for (const change of demand) {
    const play = (): void => {
      const problem = applied(lab, change);
      if (problem !== undefined) refused.add(problem);
    };
    if (change.at <= from) play();
    else clock.at(change.at, "a user of the cluster", play);
  }
  const entries = await recordLab(lab, { from, to, everyMs });
  lab.close();
  return { trace: { header: { ...header, autoscaler: "Karpenter" }, entries }, refused: [...refused] };
}

/** Plays the lab on and looks at its cluster at each interval, as a recording looks at a real one. */
export async function recordLab(
  lab: Lab,
  { from, to, everyMs }: { readonly from: number; readonly to: number; readonly everyMs: number },
): Promise<readonly TraceEntry[]> {
  const writer = new TraceWriter();
  const entries: TraceEntry[] = [];
  for (let at = from; at <= to; at += everyMs) {
    await lab.world.clock.run({ until: at });
    entries.push(writer.entry(at, look(lab)));
  }
  return entries;
}

const look = ({ world }: Lab): Partial<Record<TracedKind, readonly KubernetesObject[]>> =>
  Object.fromEntries(TRACED_KINDS.map((kind) => [kind, world.store.list(kind)]));

/** Makes the change. Returns why it cannot be made. */
function applied({ world }: Lab, { apply, remove, run }: DemandChange): string | undefined {
  try {
    if (apply) applyWithStatus(world, fresh(apply));
    if (run) world.apply(run.seconds === undefined ? setOf(run) : jobOf(run, run.seconds));
    if (remove) world.delete(remove.kind, remove.name, remove.namespace);
    return undefined;
  } catch (error) {
    // One object that cannot be played is set aside, and the replay continues.
    const { kind, metadata } = apply ?? { kind: "Pod", metadata: { name: run?.name ?? "" } };
    return `${kind} ${metadata.name}: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Objects get a uid, a time and an owner of their own in the simulated cluster. */
function fresh(object: KubernetesObject): ApiObject {
  const { uid: _, creationTimestamp: __, deletionTimestamp: ___, finalizers: ____, ...metadata } = object.metadata;
  return { ...object, metadata } as ApiObject;
}

/** A status that a manifest cannot set, such as that of a bound claim, is what the simulated cluster continues from. */
function applyWithStatus(world: Lab["world"], object: ApiObject): void {
  const isKnown = world.store.get(object.kind ?? "", object.metadata.name, object.metadata.namespace) !== undefined;
  const { name, namespace } = world.apply(object).metadata;
  if (object.status === undefined || isKnown) return;
  world.store.patch(object.kind ?? "", name, namespace, { user: USER, subresource: "status" }, (o) => ({ ...o, status: object.status }));
}

type Run = NonNullable<DemandChange["run"]>;

/** The label by which the set of a single pod finds it. */
const OBSERVED = "observed-pod";

function setOf({ name, namespace, template }: Run): ApiObject {
  const labels = { ...template.metadata?.labels, [OBSERVED]: name.slice(-63).replace(/^[^a-z0-9]+/i, "") };
  const spec = {
    replicas: 1,
    selector: { matchLabels: { [OBSERVED]: labels[OBSERVED] } },
    template: { ...template, metadata: { ...template.metadata, labels } },
  };
  return { apiVersion: "apps/v1", kind: "ReplicaSet", metadata: { name, namespace }, spec };
}

/** How often a run may be evicted: always. */
const NO_LIMIT = 1_000;
/** Finished pods are of no use after the next looks, s. */
const KEPT_SECONDS = 120;

function jobOf({ name, namespace, template }: Run, seconds: number): ApiObject {
  const annotations = { ...template.metadata?.annotations, [RUN_SECONDS]: String(seconds) };
  const spec = {
    ...{ completions: 1, parallelism: 1, backoffLimit: NO_LIMIT, ttlSecondsAfterFinished: KEPT_SECONDS },
    template: { ...template, metadata: { ...template.metadata, annotations } },
  };
  return { apiVersion: "batch/v1", kind: "Job", metadata: { name, namespace }, spec };
}
