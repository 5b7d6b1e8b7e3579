import { type EntryDeps, entry } from "../entry.ts";
import { provision } from "./provision.ts";

/** Wake-ups of the FIFO queue, and the sweep: with every event source off it still finds the pods. */
export const provisionEntry = (deps: EntryDeps) =>
  entry(
    {
      onWakeUp: (wakeUp, cluster) => provision("reason" in wakeUp ? wakeUp.reason : wakeUp.kind, cluster),
      onSchedule: (_event, cluster) => provision("sweep", cluster),
      inOrder: true,
    },
    deps,
  );
