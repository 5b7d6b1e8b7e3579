import { type EntryDeps, entry } from "../entry.ts";
import { disrupt } from "./disrupt.ts";

/** Wake-ups when something is due, and the sweep. */
export const disruptionEntry = (deps: EntryDeps) =>
  entry(
    {
      onWakeUp: (wakeUp, cluster) => disrupt("reason" in wakeUp ? wakeUp.reason : wakeUp.kind, cluster),
      onSchedule: (_event, cluster) => disrupt("sweep", cluster),
    },
    deps,
  );
