import type { CommandRecord } from "#core/model/command-record.ts";
import type { HistoryEntry } from "#core/model/history-entry.ts";
import type { Lease } from "#core/model/lease.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { ConflictError } from "#core/ports/errors.ts";
import type { ClusterDeps } from "./cluster-deps.ts";

interface Intents {
  readonly records: readonly NodeClaimRecord[];
  /** The command that they belong to. */
  readonly command?: CommandRecord | undefined;
  readonly history: readonly HistoryEntry[];
}

/**
 * Writes intents, and wakes the lifecycle for those of each transaction as soon as they are there: of thousands, the
 * first launch while the others are written. A kill in between costs only time, because the lifecycle's sweep takes up
 * records that are overdue. After a failure the lifecycle is woken for all, because the answer to a write may be lost,
 * and the next plan wakes it for none that are there: a wake-up for a record that is not does no harm.
 */
export async function writeIntents(
  lease: Lease,
  { records, command, history }: Intents,
  { cluster, store, wakeUps }: Pick<ClusterDeps, "cluster" | "store" | "wakeUps">,
): Promise<void> {
  const wake = (written: readonly NodeClaimRecord[]): Promise<void> =>
    wakeUps.wake(written.map(({ name }) => ({ kind: "claim", cluster: cluster.name, claim: name })));
  try {
    await store.writeIntents(lease, records, command, history, wake);
  } catch (error) {
    // Whatever this fails with, the first failure is thrown.
    if (!(error instanceof ConflictError)) await wake(records).catch(() => undefined);
    throw error;
  }
}
