import { readSnapshot } from "#adapters/kubernetes/snapshot.ts";
import { COLLECTIONS, type Collection, clusterGauges, DEFAULT_COLLECTIONS, plannedSince } from "#core/insight/metrics/cluster-gauges.ts";
import { type ClusterMetrics, exposition, type Format } from "#core/insight/metrics/exposition.ts";
import { podDurations } from "#core/insight/metrics/pods.ts";
import type { Sample } from "#core/insight/metrics/sample.ts";
import { nearest } from "#core/lib/nearest.ts";
import { heldReservations } from "#core/offerings/reservations.ts";
import type { Log } from "#core/ports/log.ts";
import type { MetricSums } from "#core/ports/metric-sums.ts";
import type { Metrics } from "#core/ports/metrics.ts";
import type { ClusterDeps, Later } from "../shared/cluster-deps.ts";
import { within } from "../shared/in-time.ts";
import { instanceTypesFor } from "../shared/instance-types.ts";
import { overlaidTypes } from "../shared/overlaid-types.ts";
import type { ProcessMemory } from "../shared/process-memory.ts";

/** What a scrape reads of a cluster; it writes nothing there. */
type ScrapedCluster = Pick<ClusterDeps, "cluster" | "kubernetes" | "store" | "catalogue" | "settings" | "now" | "metrics" | "log">;

export interface ScrapeDeps {
  readonly clusters: () => Promise<readonly string[]>;
  readonly clusterDeps: (cluster: string) => Promise<ScrapedCluster | undefined>;
  readonly sums: MetricSums;
  /** Adds up what this scrape has observed, so that it is in its own answer. */
  readonly flush: () => Promise<void>;
  /** Of the functions, for the metric build_info. */
  readonly version: string;
  readonly log: Log;
  readonly now: () => number;
  readonly later: Later;
  /** What this process remembers of all clusters. */
  readonly memory: ProcessMemory;
}

/** What a scraper asks for. */
interface ScrapeRequest {
  readonly clusters: readonly string[];
  readonly collections: readonly Collection[];
  readonly format: Format;
}

/**
 * Prometheus gives a scrape 10 s unless it is configured otherwise. A cluster that takes longer to answer counts as
 * not synced, and the other clusters' metrics go out.
 */
const MAX_CLUSTER_MS = 8_000;
const LATE = `The cluster did not answer within ${MAX_CLUSTER_MS / 1_000} s.`;

/**
 * What the query asks for: `cluster=NAME` and `collect[]=GROUP`, each as often as wanted; all clusters and the default
 * groups without them. A sentence when a name is not known.
 */
export function readQuery(query: URLSearchParams, clusters: readonly string[]): Omit<ScrapeRequest, "format"> | string {
  const wanted = query.getAll("cluster");
  const strange = wanted.find((name) => !clusters.includes(name));
  if (strange !== undefined) return `Cluster ${strange} is not served by this stack; it serves ${clusters.join(", ")}.`;
  const groups = query.getAll("collect[]");
  const unknown = groups.find((name) => !(COLLECTIONS as readonly string[]).includes(name));
  if (unknown !== undefined) {
    const meant = nearest(unknown, COLLECTIONS);
    return `collect[]=${unknown} is no group of metrics${meant === undefined ? "" : `; did you mean ${meant}?`} There are ${COLLECTIONS.join(", ")}.`;
  }
  return {
    clusters: wanted.length > 0 ? wanted : clusters,
    collections: groups.length > 0 ? COLLECTIONS.filter((name) => groups.includes(name)) : DEFAULT_COLLECTIONS,
  };
}

/** The text for a scraper. */
export async function scrape({ clusters, collections, format }: ScrapeRequest, deps: ScrapeDeps): Promise<string> {
  const gauges = await Promise.all(clusters.map((name) => gaugesOf(name, collections, deps)));
  await deps.flush();
  const parts: ClusterMetrics[] = await Promise.all(
    gauges.map(async ({ cluster, samples }) => ({ cluster, samples, ...(await deps.sums.read(cluster, deps.now())) })),
  );
  const shared = { cluster: "", samples: [{ name: "build_info", labels: { version: deps.version }, value: 1 } as const] };
  return exposition([...parts, { ...shared, ...(await deps.sums.read("", deps.now())) }], format);
}

async function gaugesOf(
  name: string,
  collections: readonly Collection[],
  deps: ScrapeDeps,
): Promise<{ readonly cluster: string; readonly samples: readonly Sample[] }> {
  const asked = deps.now();
  const synced = (isSynced: boolean): readonly Sample[] => [
    { name: "cluster_state_synced", labels: {}, value: isSynced ? 1 : 0 },
    {
      name: "cluster_state_unsynced_time_seconds",
      labels: {},
      value: isSynced ? 0 : (asked - (deps.memory.recall("scrapedClusters", asked, { key: name }) ?? asked)) / 1_000,
    },
  ];
  try {
    const read = async (): Promise<readonly Sample[]> => {
      const cluster = await deps.clusterDeps(name);
      if (cluster === undefined) throw new Error(`Cluster ${name} is not served by this stack.`);
      return readGauges(cluster, collections, deps.sums);
    };
    const samples = await within(MAX_CLUSTER_MS, read, LATE, deps.later);
    deps.memory.keep("scrapedClusters", asked, asked, name);
    return { cluster: name, samples: [...synced(true), ...samples] };
  } catch (error) {
    deps.log.error("could not read a cluster for its metrics; its counters are served, its gauges are not", { cluster: name, error });
    return { cluster: name, samples: synced(false) };
  }
}

async function readGauges(deps: ScrapedCluster, collections: readonly Collection[], sums: MetricSums): Promise<readonly Sample[]> {
  const { cluster, kubernetes, store, settings } = deps;
  const now = deps.now();
  const [catalogue, unavailable, overlays] = await Promise.all([
    deps.catalogue(),
    store.unavailable(cluster.name, now),
    settings.nodeOverlay ? kubernetes.list("NodeOverlay") : [],
  ]);
  const { records, nodeClasses, ...read } = await readSnapshot({
    ...{ kubernetes, store, cluster: cluster.name, now },
    instanceTypesOf: (_pool, nodeClass, known) => instanceTypesFor(catalogue, nodeClass, unavailable, settings, heldReservations(known)),
  });
  const { instanceTypes } = overlays.length > 0 ? overlaidTypes(overlays, read.nodePools, read.instanceTypes) : read;
  const snapshot = { ...read, instanceTypes };
  const planned = plannedSince(records);
  await observePods(deps.metrics, sums, { cluster: cluster.name, pods: snapshot.pods, now, planned });
  return clusterGauges(snapshot, { nodeClasses, planned }, collections);
}

/** Pods whose condition changes while the lists are read are observed by the next scrape, ms. */
const READING_MS = 5_000;

/** Observes how long pods took that became bound or ready since the last scrape, of whichever scraper. */
async function observePods(
  metrics: Metrics,
  sums: MetricSums,
  {
    cluster,
    pods,
    now,
    planned,
  }: { readonly cluster: string; readonly now: number } & {
    readonly pods: Parameters<typeof podDurations>[0];
    readonly planned: Parameters<typeof podDurations>[3];
  },
): Promise<void> {
  const to = now - READING_MS;
  const from = await sums.moveMark(cluster, to);
  if (from === undefined) return;
  for (const { name, seconds } of podDurations(pods, from, to, planned)) metrics.observe(name, {}, seconds);
}
