import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import { type EntryDeps, entry } from "../shared/cluster-entry.ts";
import { reconcileClaim } from "./reconcile.ts";
import { sweep } from "./sweep.ts";

/** Wake-ups of single claims, and the sweep over all of them. */
export const lifecycleEntry = (deps: EntryDeps<LifecycleDeps>) =>
  entry(
    {
      onWakeUp: async (wakeUp, cluster) => (wakeUp.kind === "claim" ? reconcileClaim(wakeUp.claim, wakeUp.dueAt, cluster) : undefined),
      onSchedule: (_event, cluster) => sweep(cluster),
    },
    deps,
  );
