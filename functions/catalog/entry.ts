import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import type { CloudInventory } from "../../core/ports/cloud-inventory.ts";
import type { ZonalShift } from "../../core/ports/zonal-shift.ts";
import { documentName } from "../adapters/catalogue/document.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import { type EntryDeps, entry, type ScheduleEvent } from "../shared/cluster-entry.ts";
import type { Memory } from "./node-classes.ts";
import { refreshPrices } from "./prices.ts";
import { refreshNodeClasses } from "./refresh.ts";
import { markShiftedZones } from "./zonal-shift.ts";

/** After a first reading of the offerings has failed, it is tried again this much later. */
const RETRY_MS = 10 * 60_000;

/** A cluster, and what its account offers. */
export interface CatalogClusterDeps extends ClusterDeps {
  readonly inventory: CloudInventory;
  readonly zonalShift?: ZonalShift;
}

/**
 * Wake-ups and the sweep look after NodeClasses and NodePools; the schedule "prices" reads the region's offerings, once for all clusters of an account. So
 * does the first sweep of a new deployment, which has none yet.
 */
export const catalogEntry = (deps: EntryDeps<CatalogClusterDeps>) => {
  const memories = new Map<string, Memory>();
  const memoryOf = (cluster: string): Memory => {
    const memory: Memory = memories.get(cluster) ?? new Map();
    memories.set(cluster, memory);
    return memory;
  };
  const perCluster = entry(
    {
      onWakeUp: (_wakeUp, cluster) => refreshNodeClasses(cluster, memoryOf(cluster.cluster.name)),
      async onSchedule(_event, cluster) {
        const { zonalShift } = cluster;
        const isShiftable = zonalShift !== undefined && cluster.settings.zonalShift;
        await Promise.all([
          refreshNodeClasses(cluster, memoryOf(cluster.cluster.name)),
          isShiftable && markShiftedZones({ ...cluster, zonalShift }),
        ]);
      },
    },
    deps,
  );
  const retryAt = new Map<string | undefined, number>();

  const pricesOf = async (cluster: CatalogClusterDeps, onlyIfNone: boolean): Promise<void> => {
    const { account, store } = cluster;
    if (onlyIfNone && cluster.now() < (retryAt.get(account) ?? 0)) return;
    if (onlyIfNone && (await store.documentVersion(documentName((await cluster.catalogue()).region, account))) !== undefined) return;
    retryAt.set(account, cluster.now() + RETRY_MS);
    await refreshPrices(cluster);
  };

  /** One account's trouble does not keep the offerings of another from being read; the first is thrown when all have been tried. */
  const prices = async (onlyIfNone: boolean): Promise<void> => {
    const clusters = await Promise.all(deps.clusters.map((name) => deps.clusterDeps(name).catch(() => undefined)));
    const byAccount = new Map(clusters.flatMap((cluster) => (cluster ? [[cluster.account, cluster] as const] : [])));
    const settled = await Promise.allSettled([...byAccount.values()].map((cluster) => pricesOf(cluster, onlyIfNone)));
    for (const outcome of settled) if (outcome.status === "rejected") throw outcome.reason;
  };

  return async (event: SQSEvent | ScheduleEvent): Promise<SQSBatchResponse | undefined> => {
    if ("Records" in event) return perCluster(event);
    if (event.kind === "prices") {
      await prices(false);
      return undefined;
    }
    await perCluster(event);
    await prices(true).catch((error: unknown) => deps.log.error("failed reading offerings; those known before stay in use", { error }));
    return undefined;
  };
};
