import type { CommandRecord } from "#core/model/command-record.ts";
import type { HistoryEntry } from "#core/model/history-entry.ts";
import type { Lease } from "#core/model/lease.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
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
 * records that are overdue.
 */
export async function writeIntents(
  lease: Lease,
  { records, command, history }: Intents,
  { cluster, store, wakeUps }: Pick<ClusterDeps, "cluster" | "store" | "wakeUps">,
): Promise<void> {
  await store.writeIntents(lease, records, command, history, (written) =>
    wakeUps.wake(written.map(({ name }) => ({ kind: "claim", cluster: cluster.name, claim: name }))),
  );
}
