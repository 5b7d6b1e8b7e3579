import type { ClusterRecord } from "#core/model/cluster-record.ts";
import type { ClusterRecords } from "#core/ports/cluster-records.ts";
import type { Log } from "#core/ports/log.ts";
import type { ClusterConfig, WakeUpSource } from "#settings/cluster-list.ts";

/** How long what was read is used. A cluster that is added or taken away waits for so long at most. */
const MAX_LIST_AGE_MS = 60_000;
/** Strange names, and a table that fails, are asked about no more often than this. */
const MIN_READ_GAP_MS = 10_000;

/** The clusters that a stack serves: those of the variable CLUSTERS, and those that were added in the table. */
export interface ServedClusters {
  /** All of them, as read within the last minute, or as they were known before while the table does not answer. */
  all(): Promise<readonly ClusterConfig[]>;
  /**
   * One of them; undefined for a cluster that is not of the stack. Rejects when it is not known and the table has just
   * failed to say, so that a message about it returns to its queue.
   */
  find(name: string): Promise<ClusterConfig | undefined>;
  /** The name of the only one that was known at the last read; undefined where there are several, or none. */
  only(): string | undefined;
}

interface ServedClustersOptions {
  /** The variable CLUSTERS. */
  readonly variable: readonly ClusterConfig[];
  readonly records: Pick<ClusterRecords, "list">;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Reads the table when what is known is a minute old, or does not have a name that is asked for. */
export function servedClusters({ variable, records, log, now }: ServedClustersOptions): ServedClusters {
  let known = merged(variable, []);
  let askedAt = Number.NEGATIVE_INFINITY;
  let readAt = Number.NEGATIVE_INFINITY;
  let hasFailed = false;
  let reading: Promise<void> | undefined;

  const read = async (): Promise<void> => {
    askedAt = now();
    const unread: string[] = [];
    try {
      const list = await records.list(({ name, problem }) => {
        unread.push(name);
        log.error(`the record of cluster ${name} cannot be read: ${problem}; what was known before holds`, { cluster: name });
      });
      const before = known;
      known = new Map([...merged(variable, list), ...unread.flatMap((name) => entryOf(before, name))]);
      readAt = now();
      hasFailed = false;
    } catch (error) {
      hasFailed = true;
      log.error("could not read which clusters were added to the stack; those known before are served", { error });
    }
  };
  /** One reading at a time, which all that ask meanwhile wait for. */
  const refreshed = async (): Promise<void> => {
    if (now() - askedAt < MIN_READ_GAP_MS && reading === undefined) return;
    reading ??= read().finally(() => {
      reading = undefined;
    });
    await reading;
  };
  const current = async (): Promise<void> => {
    if (now() - readAt >= MAX_LIST_AGE_MS) await refreshed();
  };

  return {
    async all() {
      await current();
      return [...known.values()];
    },
    async find(name) {
      await current();
      // A cluster that was being added a moment ago may be served now.
      const before = known.get(name);
      if (before === undefined || before.state === "adding") await refreshed();
      const found = known.get(name);
      if (found === undefined && hasFailed) throw new Error(`Whether the stack serves cluster ${name} cannot be read from the table.`);
      return found;
    },
    only() {
      const [name, ...others] = known.keys();
      return others.length === 0 ? name : undefined;
    },
  };
}

/**
 * Whether a cluster is one of the variable's that `isWanted`, or one that was added. The table is read only for the
 * latter, because an API server waits for the answer. Where the table does not answer, the cluster counts as served:
 * its path has its own secret, and the function that is woken checks again.
 */
export function isServedBy(
  variable: readonly ClusterConfig[],
  served: () => Promise<Pick<ServedClusters, "find">>,
  isWanted: (cluster: ClusterConfig) => boolean = () => true,
): (cluster: string) => Promise<boolean> {
  const named = new Map(variable.map((cluster) => [cluster.name, isWanted(cluster)] as const));
  let wired: Promise<Pick<ServedClusters, "find">> | undefined;
  return async (name) => {
    const known = named.get(name);
    if (known !== undefined) return known;
    wired ??= served();
    const found = await wired.then((clusters) => clusters.find(name)).catch(() => "unknown" as const);
    return found === "unknown" || (found !== undefined && isWanted(found));
  };
}

function entryOf(known: ReadonlyMap<string, ClusterConfig>, name: string): readonly (readonly [string, ClusterConfig])[] {
  const found = known.get(name);
  return found === undefined ? [] : [[name, found]];
}

/** A record says more than the variable about a cluster of its name. */
function merged(variable: readonly ClusterConfig[], records: readonly ClusterRecord[]): ReadonlyMap<string, ClusterConfig> {
  const all = new Map(variable.map((cluster) => [cluster.name, cluster] as const));
  for (const { name, state, sources, logGroup, roles } of records) {
    const named = all.get(name);
    if (state === "left" || (named === undefined && roles === undefined && state !== "adding")) {
      all.delete(name);
      continue;
    }
    all.set(name, {
      ...(named ?? { name, sources: [] }),
      ...(sources.length > 0 && { sources: sources as readonly WakeUpSource[] }),
      ...(logGroup !== undefined && { logGroup }),
      ...(roles !== undefined && { roles }),
      state,
    });
  }
  return all;
}
