// The disruption function: removes nodes that are empty, drifted or not worth their price. In: wake-ups and the sweep.
// Out: commands and intents in the store, taints, conditions, Kubernetes events, metrics. core/disruption decides; the
// lifecycle function drains and terminates.

import { WAKE_UP_CAUSES, type WakeUpReason } from "../../core/ports/wake-up-causes.ts";
import { SETTLE_MS } from "../../core/signals/signal.ts";
import { standsStill } from "../shared/beside-karpenter.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import { type EntryDeps, entry } from "../shared/cluster-entry.ts";
import { disrupt } from "./disrupt.ts";

/** Entry of the disruption function: wake-ups of its queue, and the sweep. */
export const disruptionEntry = (deps: EntryDeps) =>
  entry(
    {
      controller: "disruption",
      onWakeUp: async (wakeUp, cluster) => {
        const reason: WakeUpReason<"disruption"> = wakeUp.kind === "disruption" ? wakeUp : { cause: "Unknown", detail: wakeUp.kind };
        const { swarms } = WAKE_UP_CAUSES.disruption[reason.cause];
        if (!swarms || (await isFirstOfSwarm(cluster))) await decide(reason, cluster);
      },
      onSweep: (cluster) => decide({ cause: "Sweep" }, cluster),
      sweepOf: (cluster) => ({ kind: "disruption", cluster, cause: "Sweep" }),
    },
    deps,
  );

/** Commands under way wait, too, while a Karpenter runs: it would remove their taints. */
async function decide(reason: WakeUpReason<"disruption">, cluster: ClusterDeps): Promise<void> {
  if (!(await standsStill(cluster))) await disrupt(reason, cluster);
}

/**
 * Whether no other wake-up of the swarm has been served within SETTLE_MS / 2. Each pod that is bound or deleted, and
 * each node that is removed, sends a wake-up of its own; one pass serves all of them. No change is missed: a wake-up
 * arrives SETTLE_MS after its change, and the pass that stands for it began less than SETTLE_MS before.
 */
function isFirstOfSwarm({ cluster, store, now }: ClusterDeps): Promise<boolean> {
  const span = SETTLE_MS / 2;
  return store.isFirstWithin(cluster.name, `swarm/${Math.floor(now() / span)}`, now(), 2 * SETTLE_MS);
}
