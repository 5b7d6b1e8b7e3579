import type { ClusterDeps } from "../shared/cluster-deps.ts";
import { type EntryDeps, entry } from "../shared/cluster-entry.ts";
import { provision } from "./provision.ts";
import { keepReplicas } from "./static.ts";

/** Wake-ups of the FIFO queue, and the sweep: with every event source off it still finds the pods, and pools that keep a number of nodes. */
export const provisionEntry = (deps: EntryDeps) =>
  entry(
    {
      onWakeUp: (wakeUp, cluster) => plan("reason" in wakeUp ? wakeUp.reason : wakeUp.kind, cluster),
      onSchedule: (_event, cluster) => plan("sweep", cluster),
      inOrder: true,
    },
    deps,
  );

/** Pods first: they are what somebody waits for. */
async function plan(reason: string, cluster: ClusterDeps): Promise<void> {
  await provision(reason, cluster);
  await keepReplicas(cluster);
}
