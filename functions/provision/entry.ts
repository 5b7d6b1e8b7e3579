// The provision function: plans nodes for pods that fit nowhere and for static NodePools. In: wake-ups and the sweep.
// Out: intents (NodeClaim records) in the store, Kubernetes events, wake-ups of the lifecycle. It launches nothing and
// writes no NodeClaim.

import type { WakeUpReason } from "#core/ports/wake-up-causes.ts";
import { standsStill } from "../shared/beside-karpenter.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import { type EntryDeps, entry } from "../shared/cluster-entry.ts";
import { ABOUT_PODS, provision } from "./provision.ts";
import { isSeenAlready, noteLook } from "./seen-already.ts";
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
        if (ABOUT_PODS.has(reason.cause) && isSeenAlready(sentAt, cluster)) return;
        const began = cluster.now();
        await plan(reason, cluster);
        if (reason.cause !== "NodeRegistered") noteLook(began, cluster);
      },
      onSweep: (cluster) => plan({ cause: "Sweep" }, cluster),
      sweepOf: (cluster) => ({ kind: "provision", cluster, cause: "Sweep" }),
      inOrder: true,
    },
    deps,
  );

/**
 * Plans for pods before it counts replicas, because users wait for pods. Plans nothing while a Karpenter runs, or while
 * the cluster is being taken from the stack.
 */
async function plan(reason: WakeUpReason<"provision">, cluster: ClusterDeps): Promise<void> {
  if (cluster.isLeaving) return;
  await provision(reason, cluster);
  if (cluster.settings.staticCapacity && !(await standsStill(cluster))) await keepReplicas(cluster);
}
