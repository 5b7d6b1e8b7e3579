// The disruption function: removes nodes that are empty, drifted or not worth their price. In: wake-ups and the sweep.
// Out: commands and intents in the store, taints, conditions, Kubernetes events, metrics. core/disruption decides; the
// lifecycle function drains and terminates.

import { SETTLE_MS, SWARMS } from "../../core/signals/signal.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import { type EntryDeps, entry } from "../shared/cluster-entry.ts";
import { disrupt } from "./disrupt.ts";

/** Wake-ups for when something is due, and the sweep. */
export const disruptionEntry = (deps: EntryDeps) =>
  entry(
    {
      onWakeUp: async (wakeUp, cluster) => {
        const reason = "reason" in wakeUp ? wakeUp.reason : wakeUp.kind;
        if (!SWARMS.has(reason) || (await isFirstOfSwarm(cluster))) await disrupt(reason, cluster);
      },
      onSchedule: (_event, cluster) => disrupt("sweep", cluster),
    },
    deps,
  );

/**
 * Each pod that comes or goes rings by itself, and each node that goes; one look serves all that rang about then. None is missed: a ring is heard
 * SETTLE_MS after what it tells of, and the pass that stands for it began less than that before.
 */
function isFirstOfSwarm({ cluster, store, now }: ClusterDeps): Promise<boolean> {
  const span = SETTLE_MS / 2;
  return store.isFirstWithin(cluster.name, `swarm/${Math.floor(now() / span)}`, now(), 2 * SETTLE_MS);
}
