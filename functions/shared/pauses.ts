import { contentHash } from "#core/lib/fnv.ts";
import type { Pause, PauseScope } from "#core/model/pause.ts";
import {
  isInForce,
  PAUSE_CONFIG_MAP,
  PAUSE_SCOPES,
  pauseDocument,
  pauseFromJson,
  pauseJson,
  pauseOf,
  pauseOfConfigMap,
  pauseText,
  seenDocument,
} from "#core/pause/pause.ts";
import { UnreadableRecordError } from "#core/ports/errors.ts";
import type { ClusterDeps } from "./cluster-deps.ts";
import { publishOnce } from "./publish-once.ts";

type PauseDeps = Pick<ClusterDeps, "cluster" | "kubernetes" | "store" | "memory" | "log" | "now" | "isLeaving">;

const LOG_WINDOW_MS = 10 * 60_000;
const EVENT_WINDOW_MS = 60 * 60_000;

/**
 * The pause that holds a scope now; undefined when acts may begin. A table that does not answer rejects: then no act
 * begins either.
 */
export async function pausedFor(scope: PauseScope, deps: PauseDeps): Promise<Pause | undefined> {
  return pauseOf(await readPauses(deps), scope, deps.now());
}

/**
 * All pauses of the cluster, in force or not, as they were at most PAUSE_AGE_MS ago. None of a cluster that is being
 * taken from the stack: a person has asked for the end of its nodes.
 */
export async function readPauses(deps: PauseDeps): Promise<readonly Pause[]> {
  if (deps.isLeaving) return [];
  const { memory, now } = deps;
  const asked = now();
  const known = memory.recall("pauses", asked);
  if (known !== undefined) return known;
  const [fromTable, fromCluster] = await Promise.all([readPause(pauseDocument(deps.cluster.name), deps), readConfigMap(deps)]);
  const pauses = [fromTable, fromCluster].filter((pause) => pause !== undefined);
  memory.keep("pauses", pauses, asked);
  return pauses;
}

async function readPause(name: string, { store, now }: PauseDeps): Promise<Pause | undefined> {
  try {
    const document = await store.getDocument(name);
    return document && pauseFromJson(Buffer.from(document.bytes).toString(), now());
  } catch (error) {
    if (!(error instanceof UnreadableRecordError)) throw error;
    return pauseFromJson(undefined, now());
  }
}

/** The ConfigMap's pause; where it cannot be read, what was known of it before. */
async function readConfigMap(deps: PauseDeps): Promise<Pause | undefined> {
  const { cluster, kubernetes, store, log, now } = deps;
  const { name, namespace } = PAUSE_CONFIG_MAP;
  try {
    const found = await kubernetes.get("ConfigMap", name, namespace);
    const pause = found && pauseOfConfigMap(found, now());
    if (pause !== undefined) await keepSeen(pause, deps);
    return pause;
  } catch (error) {
    if (await store.isFirstWithin(cluster.name, "pause/unread", now(), LOG_WINDOW_MS))
      log.error(
        `ConfigMap ${namespace}/${name}, which may pause the cluster, cannot be read; what was known of it before holds. Where rights are missing, apply the manifests of this release again`,
        { error: error instanceof Error ? error.message : String(error) },
      );
    return readPause(seenDocument(cluster.name), deps);
  }
}

/** Keeps what the ConfigMap says, and writes into the history that it has begun or ended. */
async function keepSeen(pause: Pause | undefined, deps: PauseDeps): Promise<void> {
  const { cluster, store, now } = deps;
  const name = seenDocument(cluster.name);
  const version = pause === undefined ? "none" : contentHash(JSON.stringify(pause));
  const known = (await store.documentVersion(name)) ?? "none";
  if (known === version) return;
  const before = pause === undefined ? await readPause(name, deps) : undefined;
  const entry = { cluster: cluster.name, at: now() };
  await store.addHistory(
    pause !== undefined
      ? [{ ...entry, type: "Paused", pause }]
      : before === undefined
        ? []
        : [{ ...entry, type: "Resumed", source: "ConfigMap", by: "", pausedAt: before.at }],
  );
  await store.putDocument(name, Buffer.from(pauseJson(pause)), version);
}

/**
 * Reports what holds the cluster, once a minute while it has nodes: gauges, and an Event on each NodePool. Nothing is
 * written while nothing holds, so it costs nothing then.
 */
export async function reportPauses(deps: PauseDeps & Pick<ClusterDeps, "metrics">): Promise<void> {
  const { kubernetes, metrics, now } = deps;
  const pauses = await readPauses(deps);
  if (!pauses.some(({ source }) => source === "ConfigMap")) await keepSeen(undefined, deps);
  for (const scope of PAUSE_SCOPES) if (pauseOf(pauses, scope, now()) !== undefined) metrics.gauge("cluster_paused", { scope }, 1);
  const holding = pauses.filter((pause) => isInForce(pause, now()));
  if (holding.length === 0) return;
  for (const pool of await kubernetes.list("NodePool")) {
    const about = { kind: "NodePool", metadata: pool.metadata } as const;
    for (const pause of holding)
      await publishOnce({ type: "Warning", reason: "Paused", message: pauseText(pause), about }, deps, EVENT_WINDOW_MS);
  }
}
