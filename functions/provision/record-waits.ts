import { type WaitingPod, waitsToWrite } from "../../core/history/waiting.ts";
import type { Plan } from "../../core/model/plan.ts";
import type { Snapshot } from "../../core/model/snapshot.ts";
import { podKey } from "../../core/pods/predicates.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";

const DAY_MS = 24 * 60 * 60_000;

/**
 * Writes into the history which pods wait and why: what it says already is read first, so that a wait of hours costs a
 * few writes. No record tells of these pods; a kill costs an entry that the next pass writes.
 */
export async function recordWaits({ podErrors }: Plan, { pods }: Snapshot, { cluster, store, now }: ClusterDeps): Promise<void> {
  const errors = new Map(Object.entries(podErrors));
  const waiting = pods.flatMap((pod): WaitingPod[] => {
    const error = errors.get(podKey(pod));
    return error === undefined ? [] : [{ pod, error }];
  });
  if (waiting.length === 0) return;
  const at = now();
  const known = await store.history(cluster.name, { since: at - DAY_MS, until: at + 1, about: "pod/" });
  const entries = waitsToWrite(
    cluster.name,
    waiting,
    known.filter((entry) => entry.type === "PodsWaited"),
    at,
  );
  if (entries.length > 0) await store.addHistory(entries);
}
