import type { SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import { parseWakeUp } from "#adapters/aws/wake-up-queue.ts";
import { type BatchDeps, eachRecord, eachRecordInOrder, FAILED } from "#adapters/lambda/batch.ts";
import { isSweep, retryAfterSeconds, type WakeUp, type WakeUps } from "#core/ports/wake-ups.ts";
import { withAnnouncements } from "./announce.ts";
import type { ClusterDeps, Later } from "./cluster-deps.ts";
import { type InvocationContext, inTime, OutOfTimeError } from "./in-time.ts";
import { ProcessMemory } from "./process-memory.ts";
import { type ReconcileIds, withReconcileId } from "./reconcile-id.ts";

/** The period of the sweep, ms: what is due later needs no wake-up of its own. */
export const SWEEP_MS = 60_000;

/**
 * Where in the period each kind of sweep begins, ms: the functions of a cluster follow each other, and do not read its
 * API server all at once.
 */
const BEGINS_MS: Readonly<Record<WakeUp["kind"], number>> = { provision: 0, sweep: 15_000, disruption: 30_000, catalog: 45_000, claim: 0 };

/**
 * The sweeps of a stack's clusters, spread over the period: begun all at once they would need an invocation for each
 * cluster and function, which an account may not have, and wake-ups for pods would wait behind them. The order is that
 * of the names, so that each cluster keeps its place.
 */
function spread(sweeps: readonly WakeUp[]): readonly WakeUp[] {
  const inOrder = [...sweeps].sort((a, b) => (a.cluster < b.cluster ? -1 : 1));
  return inOrder.map((sweep, i) => ({ ...sweep, delayMs: (BEGINS_MS[sweep.kind] + (i * SWEEP_MS) / inOrder.length) % SWEEP_MS }));
}

/** The last attempt of a sweep: it begins 30 s after the first one, and the next sweep follows half a minute later. */
const SWEEP_ATTEMPTS = 5;
/**
 * How often a wake-up of a FIFO queue is sent again, for about eight minutes. After that its message stays in the
 * queue, which hands it out some more times and then puts it into the dead-letter queue.
 */
const ATTEMPTS_IN_ORDER = 20;

/** The event that a schedule sends. */
export interface ScheduleEvent {
  readonly kind: string;
}

const attemptOf = (wakeUp: WakeUp): number => ("attempt" in wakeUp && wakeUp.attempt) || 1;

/** What the entry of a function needs to reach its clusters. */
export interface EntryDeps<D extends ClusterDeps = ClusterDeps> extends ReconcileIds, BatchDeps {
  /** Names of the clusters that this stack serves now. */
  readonly clusters: () => Promise<readonly string[]>;
  /** Undefined for a cluster that this stack does not serve. */
  readonly clusterDeps: (cluster: string) => Promise<D | undefined>;
  readonly wakeUps: WakeUps;
  readonly later: Later;
}

export interface Entry<D extends ClusterDeps> {
  /** Name of the function, for metrics. */
  readonly controller: string;
  /** Handles a wake-up of one cluster, which was sent at a time, ms since the epoch. */
  readonly onWakeUp: (wakeUp: WakeUp, deps: D, sentAt: number) => Promise<void>;
  /** Sweeps one cluster. */
  readonly onSweep: (deps: D) => Promise<void>;
  /** The wake-up, on the function's own queue, that has one cluster swept. */
  readonly sweepOf: (cluster: string) => WakeUp;
  /**
   * For a FIFO queue, which keeps a cluster's messages back while one of them is not acknowledged: a message that
   * failed is acknowledged, and its wake-up is sent again.
   */
  readonly inOrder?: boolean;
}

/**
 * The body of a function that a queue of wake-ups and a schedule start: the same in Lambda and in the lab.
 *
 * An invocation of the schedule sweeps the stack's only cluster. Of several it sweeps none, but wakes its own function
 * for each, one after the other in the course of the period. Of a batch, only those messages return to the queue whose
 * cluster fails or does not end within the invocation's time.
 */
export function entry<D extends ClusterDeps>({ controller, onWakeUp, onSweep, sweepOf, inOrder = false }: Entry<D>, deps: EntryDeps<D>) {
  const { log } = deps;

  /** Does `work` on the ports of a cluster. */
  const inCluster = async (name: string, work: (cluster: D) => Promise<void>, invocation?: ProcessMemory): Promise<void> => {
    const cluster = await deps.clusterDeps(name);
    if (cluster) {
      const run = { ...cluster, log: withReconcileId(cluster.log, deps), ...(invocation && { invocation }) };
      await measured(cluster, controller, () => withAnnouncements(run, work));
    } else log.error(`Cluster ${name} is not served by this stack; the wake-up was dropped. Add the cluster with install.`);
  };

  /**
   * A sweep that fails does not return to the queue, and keeps no other cluster waiting. It is tried again in its
   * minute, unless the cluster used up the time of the invocation; then the next one tries again.
   */
  const sweep = async (wakeUp: WakeUp, context: InvocationContext | undefined, invocation?: ProcessMemory): Promise<void> => {
    const { cluster } = wakeUp;
    try {
      await inTime(() => inCluster(cluster, onSweep, invocation), context, deps.later);
    } catch (error) {
      const again = attemptOf(wakeUp) < SWEEP_ATTEMPTS && !(error instanceof OutOfTimeError) && (await isSentAgain(wakeUp));
      if (again)
        log.error("a scheduled pass failed, it will be tried again", { cluster, schedule: "sweep", attempt: attemptOf(wakeUp), error });
      else log.error("the scheduled pass failed; the next one tries again", { cluster, schedule: "sweep", error });
    }
  };

  /** Sends the wake-up of an attempt that failed again, to be tried after 2, 4, 8 … 30 s; whether the queue took it. */
  const isSentAgain = async (wakeUp: WakeUp): Promise<boolean> => {
    const attempt = attemptOf(wakeUp);
    try {
      await deps.wakeUps.wake([{ ...wakeUp, delayMs: retryAfterSeconds(attempt) * 1_000, attempt: attempt + 1 } as WakeUp]);
      return true;
    } catch (error) {
      log.error("a wake-up could not be sent again", { cluster: wakeUp.cluster, error });
      return false;
    }
  };

  /** When the function is killed between two messages, the clusters without one are swept a minute later. */
  const handOut = async (clusters: readonly string[]): Promise<void> => {
    const sweeps = spread(clusters.map(sweepOf));
    try {
      await deps.wakeUps.wake(sweeps).catch(() => deps.wakeUps.wake(sweeps));
    } catch (error) {
      log.error("not every cluster could be woken for the sweep; the next one tries again", { error });
    }
  };

  return async (event: SQSEvent | ScheduleEvent, context?: InvocationContext): Promise<SQSBatchResponse | undefined> => {
    if (!("Records" in event)) {
      const clusters = await deps.clusters();
      if (clusters.length > 1) await handOut(clusters);
      else for (const cluster of clusters) await sweep(sweepOf(cluster), context);
      return undefined;
    }
    const invocation = new ProcessMemory();
    const handle = async (wakeUp: WakeUp, { attributes }: SQSRecord): Promise<void> => {
      const { cluster } = wakeUp;
      const sentAt = Number(attributes.SentTimestamp);
      // A sweep of another function is only on its way through this one's queue.
      if (isSweep(wakeUp) && wakeUp.kind === sweepOf(cluster).kind) await sweep(wakeUp, context, invocation);
      else await inTime(() => inCluster(cluster, (deps) => onWakeUp(wakeUp, deps, sentAt), invocation), context, deps.later);
    };
    if (!inOrder) return eachRecord(event, (body, record) => handle(parseWakeUp(body), record), deps);
    const handleOrSendAgain = async (body: string, record: SQSRecord): Promise<void> => {
      const wakeUp = parseWakeUp(body);
      try {
        await handle(wakeUp, record);
      } catch (error) {
        const attempt = attemptOf(wakeUp);
        if (attempt >= ATTEMPTS_IN_ORDER || !(await isSentAgain(wakeUp))) throw error;
        log.error(FAILED, { messageId: record.messageId, attempt, error });
      }
    };
    return eachRecordInOrder(event, handleOrSendAgain, deps);
  };
}

/** Does `work` and counts it as a reconcile, as Karpenter's controllers do. */
async function measured({ metrics, now }: ClusterDeps, controller: string, work: () => Promise<void>): Promise<void> {
  const began = now();
  const ends = (result: "success" | "error"): void => {
    metrics.count("controller_runtime_reconcile_total", { controller, result });
    metrics.observe("controller_runtime_reconcile_time_seconds", { controller }, (now() - began) / 1_000);
  };
  try {
    await work();
  } catch (error) {
    ends("error");
    throw error;
  }
  ends("success");
}
