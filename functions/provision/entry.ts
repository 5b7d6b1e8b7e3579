// The provision function: plans nodes for pods that fit nowhere and for static NodePools. In: wake-ups and the sweep.
// Out: intents (NodeClaim records) in the store, Kubernetes events, wake-ups of the lifecycle. It launches nothing and
// writes no NodeClaim.

import { PROVISION_CAUSES } from "#core/passes/causes.ts";
import { isCovered } from "#core/passes/covered-events.ts";
import type { WakeUpReason } from "#core/ports/wake-up-causes.ts";
import { isPausedForKarpenter } from "../shared/beside-karpenter.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import { type EntryDeps, entry } from "../shared/cluster-entry.ts";
import { provision } from "./provision.ts";
import { publishOutcome } from "./publish-outcome.ts";
import { keepReplicas } from "./static.ts";

/**
 * Entry of the provision function: wake-ups of the FIFO queue, and the sweep, which finds pods and static NodePools
 * without any event.
 */
export const provisionEntry = (deps: EntryDeps) =>
  entry(
    {
      controller: "provision",
      onWakeUp: async (wakeUp, cluster, sentAt) => {
        const reason = wakeUp.kind === "provision" ? wakeUp : ({ cause: "Unknown", detail: wakeUp.kind } as const);
        const { memory, now } = cluster;
        const row = PROVISION_CAUSES[reason.cause];
        if (row.usesKnownDefinitions && isCovered(sentAt, memory.recall("fullRead", now()), now())) return;
        const began = now();
        await provisionPass(reason, cluster);
        // A pass about one node reads no pods when the node alone is awaited.
        if (row.check !== "node") keepFullRead(began, cluster);
      },
      onSweep: (cluster) => provisionPass({ cause: "Sweep" }, cluster),
      sweepOf: (cluster) => ({ kind: "provision", cluster, cause: "Sweep" }),
      inOrder: true,
    },
    deps,
  );

/**
 * Plans for pods before it counts replicas, because users wait for pods. Plans nothing while a Karpenter runs, or while
 * the cluster is being taken from the stack.
 */
export async function provisionPass(reason: WakeUpReason<"provision">, cluster: ClusterDeps): Promise<void> {
  if (cluster.isLeaving) return;
  const committed = await provision(reason, cluster);
  if (committed !== undefined) await publishOutcome(committed, cluster);
  if (cluster.settings.staticCapacity && !(await isPausedForKarpenter(cluster))) await keepReplicas(cluster);
}

/** Keeps that all pods have been read, and what they need has been done. */
function keepFullRead(beganAt: number, { memory, now }: Pick<ClusterDeps, "memory" | "now">): void {
  const last = Math.max(beganAt, memory.recall("fullRead", now()) ?? Number.NEGATIVE_INFINITY);
  memory.keep("fullRead", last, last);
}
