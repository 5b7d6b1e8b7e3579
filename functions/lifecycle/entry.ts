// The lifecycle function: carries each NodeClaim from intent to removal. In: wake-ups of single NodeClaims, and the
// sweep. Out: NodeClaims, nodes, evictions, EC2 instances and the records of them. It is the only function that reaches
// instances, and it plans none: core/lifecycle decides each step.

import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import { type EntryDeps, entry } from "../shared/cluster-entry.ts";
import { measuredFleet } from "./measured-fleet.ts";
import { reconcileClaim } from "./reconcile.ts";
import { sweep } from "./sweep.ts";

/**
 * Wake-ups reconcile one NodeClaim; the sweep looks after all of them. A wake-up for a later plan has waited in the
 * queue, because the planner's queue has no delay for single messages, and is passed on.
 */
export const lifecycleEntry = (deps: EntryDeps<LifecycleDeps>) =>
  entry(
    {
      controller: "lifecycle",
      async onWakeUp(wakeUp, cluster, sentAt) {
        if (wakeUp.kind === "claim")
          await reconcileClaim(wakeUp.claim, { ...wakeUp, sentAt }, { ...cluster, fleet: measuredFleet(cluster) });
        else if (wakeUp.kind === "provision") await cluster.wakeUps.wake([wakeUp]);
      },
      onSweep: (cluster) => sweep({ ...cluster, fleet: measuredFleet(cluster) }),
      sweepOf: (cluster) => ({ kind: "sweep", cluster }),
    },
    deps,
  );
