import type { LifecycleDeps } from "../cluster-deps.ts";
import { type EntryDeps, entry } from "../entry.ts";
import { sweep } from "./sweep.ts";
import { tend } from "./tend.ts";

/** Wake-ups of single claims, and the sweep over all of them. */
export const lifecycleEntry = (deps: EntryDeps<LifecycleDeps>) =>
  entry(
    {
      onWakeUp: async (wakeUp, cluster) => (wakeUp.kind === "claim" ? tend(wakeUp.claim, wakeUp.dueAt, cluster) : undefined),
      onSchedule: (_event, cluster) => sweep(cluster),
    },
    deps,
  );
