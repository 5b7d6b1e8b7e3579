// The provision function: plans nodes for pods that fit nowhere and for static NodePools. In: wake-ups and the sweep.
// Out: intents (NodeClaim records) in the store, Kubernetes events, wake-ups of the lifecycle. It launches nothing and
// writes no NodeClaim.

import type { ClusterDeps } from "../shared/cluster-deps.ts";
import { type EntryDeps, entry } from "../shared/cluster-entry.ts";
import { provision } from "./provision.ts";
import { keepReplicas } from "./static.ts";

/**
 * Wake-ups of the FIFO queue, and the sweep, which finds pending pods and static NodePools even with every event source
 * off.
 */
export const provisionEntry = (deps: EntryDeps) =>
  entry(
    {
      onWakeUp: (wakeUp, cluster) => plan("reason" in wakeUp ? wakeUp.reason : wakeUp.kind, cluster),
      onSchedule: (_event, cluster) => plan("sweep", cluster),
      inOrder: true,
    },
    deps,
  );

/** Pending pods first, because users wait for them; static NodePools after them. */
async function plan(reason: string, cluster: ClusterDeps): Promise<void> {
  await provision(reason, cluster);
  await keepReplicas(cluster);
}
