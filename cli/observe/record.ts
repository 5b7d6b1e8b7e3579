import { perHour } from "#core/disruption/prices/money.ts";
import { Machines, type PriceOf } from "#core/insight/observed/machines.ts";
import { autoscalerOf } from "#core/insight/observed/owners.ts";
import { type Look, statesOf, TRACED_KINDS, type Trace, type TracedKind, TraceWriter } from "#core/insight/observed/trace.ts";
import type { KubernetesObject } from "#core/model/kubernetes.ts";
import type { Pod } from "#core/model/pod.ts";
import { isActive } from "#core/pods/predicates.ts";
import { RefusedError } from "#core/ports/errors.ts";
import { counted, listed } from "#core/scheduling/reasons/words.ts";
import { TraceFile } from "./trace-file.ts";

/** A cluster that can be looked at, and a clock. */
export interface Observed {
  readonly cluster: string;
  /** The region, by the nodes of a look. Throws InputError when nothing states it. */
  readonly regionOf: (look: Look) => string;
  /** The objects of a kind. Throws RefusedError when they may not be read, or when the cluster has no such kind. */
  readonly list: (kind: TracedKind) => Promise<readonly KubernetesObject[]>;
  readonly priceOf: (region: string) => PriceOf;
  readonly now: () => number;
  /** Resolves after so many ms, or sooner when the recording is to end. */
  readonly sleep: (ms: number) => Promise<void>;
  readonly isEnded: () => boolean;
  readonly print: (line: string) => void;
}

interface RecordOptions {
  readonly path: string;
  /** What an earlier recording has written. */
  readonly earlier: Trace | undefined;
  readonly everyMs: number;
  /** How long to record, ms; until it is ended when undefined. */
  readonly forMs: number | undefined;
}

/** A line is printed so often, ms. */
const LINE_EVERY_MS = 60_000;

/** Looks at the cluster again and again and writes what has changed. Returns when it has ended. */
export async function record(observed: Observed, { path, earlier, everyMs, forMs }: RecordOptions): Promise<void> {
  const { now, print } = observed;
  const first = await readLook(observed, new Set());
  const unread = TRACED_KINDS.filter((kind) => first[kind] === undefined);
  const region = earlier?.header.region ?? observed.regionOf(first);
  const header = earlier?.header ?? {
    ...{ trace: 1 as const, cluster: observed.cluster, region, everyMs },
    ...{ autoscaler: autoscalerOf(first), unread },
  };
  for (const line of beginning(header, path, earlier)) print(line);
  const file = new TraceFile(path, earlier ?? { header, entries: [] });
  const writer = new TraceWriter(lastState(earlier));
  const began = now();
  const facts = { now, priceOf: observed.priceOf(region), autoscaler: header.autoscaler };
  let lineDue = began;
  try {
    for await (const look of looks(observed, first, {
      everyMs,
      skipped: new Set(unread),
      until: began + (forMs ?? Number.POSITIVE_INFINITY),
    })) {
      file.add(writer.entry(now(), look));
      if (now() < lineDue) continue;
      file.flush();
      print(lineOf(look, { ...facts, bytes: file.bytes }));
      lineDue = now() + LINE_EVERY_MS;
    }
  } finally {
    file.close();
  }
}

interface LooksOptions {
  readonly everyMs: number;
  readonly skipped: ReadonlySet<TracedKind>;
  /** ms since the epoch. */
  readonly until: number;
}

/** The looks from the first one on. Where the cluster cannot be read, one is missing: a gap of the trace. */
async function* looks(observed: Observed, first: Look, { everyMs, skipped, until }: LooksOptions): AsyncGenerator<Look> {
  const { now, print } = observed;
  yield first;
  let isAway = false;
  for (let due = now() + everyMs; due <= until; due = Math.max(due + everyMs, now())) {
    await observed.sleep(due - now());
    if (observed.isEnded()) return;
    const look = await readLook(observed, skipped).catch((error: unknown) => error as Error);
    if (look instanceof Error && !isAway)
      print(`the cluster cannot be read, and is tried again every ${everyMs / 1_000} s: ${look.message}`);
    if (!(look instanceof Error) && isAway) print("the API server answers again");
    isAway = look instanceof Error;
    if (!(look instanceof Error)) yield look;
  }
}

/** One look; kinds that may not be read are left out. */
async function readLook({ list }: Observed, skipped: ReadonlySet<TracedKind>): Promise<Look> {
  const found = await Promise.all(
    TRACED_KINDS.filter((kind) => !skipped.has(kind)).map(async (kind) => {
      try {
        return [kind, await list(kind)] as const;
      } catch (error) {
        if (error instanceof RefusedError && kind !== "Pod" && kind !== "Node") return undefined;
        throw error;
      }
    }),
  );
  return Object.fromEntries(found.filter((pair) => pair !== undefined));
}

function lastState(earlier: Trace | undefined) {
  let last: ReturnType<typeof statesOf> extends Generator<infer T> ? T | undefined : never;
  for (const each of statesOf(earlier?.entries ?? [])) last = each;
  return last?.state;
}

/** What a report loses where a kind is not read. */
const LOSSES: Partial<Record<TracedKind, string>> = {
  ReplicaSet: "pods of Deployments count one by one, and evictions look like new demand",
  StatefulSet: "pods of StatefulSets count one by one",
  NodeClaim: "machines count from the registration of their nodes",
  PodDisruptionBudget: "pods are moved in the replay without regard to PodDisruptionBudgets",
  DaemonSet: "nodes of the replay have no DaemonSets",
  NodePool: "the replay needs NodePools of its own (--apply)",
  EC2NodeClass: "the replay needs NodePools of its own (--apply)",
};

function beginning({ cluster, autoscaler, unread, everyMs }: Trace["header"], path: string, earlier: Trace | undefined): readonly string[] {
  const lines = [
    `Observing cluster ${cluster}: ${autoscaler} decides here. A look every ${everyMs / 1_000} s; nothing is written to the cluster.`,
  ];
  const losses = unread.flatMap((kind) => (LOSSES[kind] === undefined ? [] : [`${kind} (${LOSSES[kind]})`]));
  if (losses.length > 0) lines.push(`Not read, because the cluster has none or this user may not: ${listed(losses)}.`);
  const last = earlier?.entries.at(-1)?.at;
  lines.push(
    last === undefined
      ? `Recording to ${path}. End it with Ctrl-C; the same command continues it later.`
      : `Continuing ${path}, which ended at ${new Date(last).toISOString()}. End it with Ctrl-C.`,
  );
  return lines;
}

interface LineFacts extends Pick<Observed, "now"> {
  readonly priceOf: PriceOf;
  readonly autoscaler: string;
  readonly bytes: number;
}

/** "10:32:00  63 nodes  ~$4.21/h  412 pods, 3 wait  1.2 MB". */
function lineOf(look: Look, { now, priceOf, autoscaler, bytes }: LineFacts): string {
  const at = now();
  const machines = new Machines(priceOf, autoscaler);
  machines.take({ at, put: look });
  // What they cost in the next hour, if all stay.
  const { dollars, machines: count } = machines.figures(at, at + 3_600_000);
  const active = ((look.Pod ?? []) as readonly Pod[]).filter(isActive);
  const waiting = active.filter(({ spec }) => spec.nodeName === undefined).length;
  const nodes = counted(count.most, "node");
  return [
    new Date(at).toISOString().slice(11, 19),
    nodes,
    `~${perHour(dollars)}`,
    `${counted(active.length, "pod")}${waiting === 0 ? "" : `, ${waiting} waiting`}`,
    `${(bytes / 1e6).toFixed(bytes < 1e6 ? 2 : 1)} MB`,
  ].join("  ");
}
