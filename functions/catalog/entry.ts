// The catalog function: keeps what can be launched up to date. In: wake-ups when a NodePool, EC2NodeClass or
// NodeOverlay changes, the sweep, and the schedule "prices". Out: the status of these objects, and the catalogue of
// instance types and prices in the store. It reads EC2, SSM, IAM and the Price List API, and launches nothing.

import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import { documentName } from "#adapters/catalogue/document.ts";
import type { CloudInventory } from "#core/ports/cloud-inventory.ts";
import type { ZonalShift } from "#core/ports/zonal-shift.ts";
import { isPausedForKarpenter } from "../shared/beside-karpenter.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import { type EntryDeps, entry, type ScheduleEvent } from "../shared/cluster-entry.ts";
import type { InvocationContext } from "../shared/in-time.ts";
import type { Memory } from "./node-classes.ts";
import { refreshPaidCapacity } from "./paid-capacity.ts";
import { refreshPrices } from "./prices.ts";
import { refreshNodeClasses } from "./refresh.ts";
import { markShiftedZones } from "./zonal-shift.ts";

/** When the first reading of a region's offerings fails, the next attempt follows after this time. */
const RETRY_MS = 10 * 60_000;
/** Clusters of an account by whose roles its offerings are tried to be read. */
const MAX_READERS = 3;

/** A cluster, and the ports to what its AWS account offers. */
export interface CatalogClusterDeps extends ClusterDeps {
  readonly inventory: CloudInventory;
  readonly zonalShift?: ZonalShift;
}

/**
 * Wake-ups and the sweep refresh NodeClasses, NodePools and NodeOverlays. The schedule "prices" reads the region's
 * offerings, once for all clusters of an account; the first sweep of a new deployment, which has no offerings yet, does
 * so too.
 */
export const catalogEntry = (deps: EntryDeps<CatalogClusterDeps>) => {
  const memories = new Map<string, Memory>();
  const memoryOf = (cluster: string): Memory => {
    const memory: Memory = memories.get(cluster) ?? new Map();
    memories.set(cluster, memory);
    return memory;
  };
  /** While a Karpenter runs, it writes these objects: two writers would overwrite each other's hashes. */
  const refresh = async (cluster: CatalogClusterDeps): Promise<void> => {
    if (!(await isPausedForKarpenter(cluster))) await refreshNodeClasses(cluster, memoryOf(cluster.cluster.name));
  };
  const perCluster = entry(
    {
      controller: "catalog",
      onWakeUp: (_wakeUp, cluster) => refresh(cluster),
      async onSweep(cluster) {
        const { zonalShift } = cluster;
        const isShiftable = zonalShift !== undefined && cluster.settings.zonalShift;
        await Promise.all([refresh(cluster), refreshPaidCapacity(cluster), isShiftable && markShiftedZones({ ...cluster, zonalShift })]);
      },
      sweepOf: (cluster) => ({ kind: "catalog", cluster, cause: "Sweep" }),
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

  /** A cluster whose role is gone must not be in the way of the others: then another one's role reads them. */
  const pricesByOne = async (clusters: readonly CatalogClusterDeps[], onlyIfNone: boolean): Promise<void> => {
    const [first, ...others] = clusters.slice(0, MAX_READERS);
    if (first === undefined) return;
    try {
      await pricesOf(first, onlyIfNone);
    } catch (error) {
      if (others.length === 0) throw error;
      deps.log.error("failed reading offerings for one cluster; the next one's role is tried", { cluster: first.cluster.name, error });
      retryAt.delete(first.account);
      await pricesByOne(others, onlyIfNone);
    }
  };

  /**
   * A failure in one account does not keep the offerings of another from being read; the first failure is thrown at the
   * end.
   */
  const prices = async (onlyIfNone: boolean): Promise<void> => {
    const names = await deps.clusters();
    const clusters = await Promise.all(names.map((name) => deps.clusterDeps(name).catch(() => undefined)));
    const byAccount = Map.groupBy(
      clusters.filter((cluster) => cluster !== undefined),
      ({ account }) => account,
    );
    const settled = await Promise.allSettled([...byAccount.values()].map((some) => pricesByOne(some, onlyIfNone)));
    for (const outcome of settled) if (outcome.status === "rejected") throw outcome.reason;
  };

  return async (event: SQSEvent | ScheduleEvent, context?: InvocationContext): Promise<SQSBatchResponse | undefined> => {
    if ("Records" in event) return perCluster(event, context);
    if (event.kind === "prices") {
      await prices(false);
      return undefined;
    }
    await perCluster(event, context);
    await prices(true).catch((error: unknown) => deps.log.error("failed reading offerings; those known before stay in use", { error }));
    return undefined;
  };
};
