import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import type { CloudInventory } from "../../core/ports/cloud-inventory.ts";
import type { ZonalShift } from "../../core/ports/zonal-shift.ts";
import { documentName } from "../adapters/catalogue/document.ts";
import { type EntryDeps, entry, type ScheduleEvent } from "../entry.ts";
import type { Memory } from "./node-classes.ts";
import { refreshPrices } from "./prices.ts";
import { refreshNodeClasses } from "./refresh.ts";
import { markShiftedZones } from "./zonal-shift.ts";

/** After a first reading of the offerings has failed, it is tried again this much later. */
const RETRY_MS = 10 * 60_000;

/**
 * Wake-ups and the sweep look after NodeClasses and NodePools; the schedule "prices" reads the region's offerings, once for all clusters. So does the first
 * sweep of a new deployment, which has none yet.
 */
export const catalogEntry = (deps: EntryDeps & { readonly inventory: CloudInventory; readonly zonalShift?: ZonalShift }) => {
  const { inventory, zonalShift } = deps;
  const memories = new Map<string, Memory>();
  const memoryOf = (cluster: string): Memory => {
    const memory: Memory = memories.get(cluster) ?? new Map();
    memories.set(cluster, memory);
    return memory;
  };
  const perCluster = entry(
    {
      onWakeUp: (_wakeUp, cluster) => refreshNodeClasses({ ...cluster, inventory }, memoryOf(cluster.cluster.name)),
      async onSchedule(_event, cluster) {
        const isShiftable = zonalShift !== undefined && cluster.settings.zonalShift;
        await Promise.all([
          refreshNodeClasses({ ...cluster, inventory }, memoryOf(cluster.cluster.name)),
          isShiftable && markShiftedZones({ ...cluster, zonalShift }),
        ]);
      },
    },
    deps,
  );
  let retryAt = Number.NEGATIVE_INFINITY;

  const prices = async (onlyIfNone: boolean): Promise<void> => {
    const [first = ""] = deps.clusters;
    const cluster = await deps.clusterDeps(first);
    if (cluster === undefined || (onlyIfNone && cluster.now() < retryAt)) return;
    if (onlyIfNone && (await cluster.store.documentVersion(documentName((await cluster.catalogue()).region))) !== undefined) return;
    retryAt = cluster.now() + RETRY_MS;
    await refreshPrices({ ...cluster, inventory });
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
