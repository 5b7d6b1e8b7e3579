import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import type { Log } from "../../core/ports/log.ts";
import type { WakeUp } from "../../core/ports/wake-ups.ts";
import { parseWakeUp } from "../adapters/aws/wake-up-queue.ts";
import { eachRecord, eachRecordInOrder } from "../adapters/batch.ts";
import { withAnnouncements } from "./announce.ts";
import type { ClusterDeps } from "./cluster-deps.ts";

/** The period of the sweep, ms: what is due later needs no wake-up of its own. */
export const SWEEP_MS = 60_000;

/** The event that a schedule sends. */
export interface ScheduleEvent {
  readonly kind: string;
}

/** What the entry of a function needs to reach its clusters. */
export interface EntryDeps<D extends ClusterDeps = ClusterDeps> {
  /** Names of the clusters that this stack serves. */
  readonly clusters: readonly string[];
  /** Undefined for a cluster that this stack does not serve. */
  readonly clusterDeps: (cluster: string) => Promise<D | undefined>;
  readonly log: Log;
}

export interface Entry<D extends ClusterDeps> {
  /** Handles a wake-up of one cluster. */
  readonly onWakeUp: (wakeUp: WakeUp, deps: D) => Promise<void>;
  /** Handles an event of a schedule, once for each cluster. */
  readonly onSchedule: (event: ScheduleEvent, deps: D) => Promise<void>;
  /**
   * For a FIFO queue: after a message that failed, those behind it are left too, so that a cluster's messages keep
   * their order.
   */
  readonly inOrder?: boolean;
}

/** The body of a function that a queue of wake-ups and a schedule start: the same in Lambda and in the lab. */
export function entry<D extends ClusterDeps>({ onWakeUp, onSchedule, inOrder = false }: Entry<D>, deps: EntryDeps<D>) {
  return async (event: SQSEvent | ScheduleEvent): Promise<SQSBatchResponse | undefined> => {
    if (!("Records" in event)) {
      await Promise.all(deps.clusters.map(async (cluster) => scheduled(cluster, event, onSchedule, deps)));
      return undefined;
    }
    const invocation = {};
    const handle = async (body: string): Promise<void> => {
      const wakeUp = parseWakeUp(body);
      const cluster = await deps.clusterDeps(wakeUp.cluster);
      if (cluster) await withAnnouncements({ ...cluster, invocation }, (collected) => onWakeUp(wakeUp, collected));
      else
        deps.log.error(`Cluster ${wakeUp.cluster} is not served by this stack; the wake-up was dropped. Add the cluster and deploy again.`);
    };
    return inOrder ? eachRecordInOrder(event, handle, deps.log) : eachRecord(event, handle, deps.log);
  };
}

/** A cluster that fails must not keep the sweep from the other clusters; the next sweep tries again. */
async function scheduled<D extends ClusterDeps>(
  cluster: string,
  event: ScheduleEvent,
  onSchedule: Entry<D>["onSchedule"],
  { clusterDeps, log }: EntryDeps<D>,
): Promise<void> {
  try {
    const deps = await clusterDeps(cluster);
    if (deps) await withAnnouncements(deps, (collected) => onSchedule(event, collected));
  } catch (error) {
    log.error("the scheduled pass failed; the next one tries again", { cluster, schedule: event.kind, error });
  }
}
