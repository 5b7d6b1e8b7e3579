import { budgetsKept, holdersLeftAlone } from "./disruptions.ts";
import { finalizerLast, livingKeepTheirMachines, noOrphans } from "./endings.ts";
import { budgetsAsked, drainedFirst, heldPodsStay, taintedFirst } from "./evictions.ts";
import type { Invariant } from "./invariant.ts";
import { boughtOnce, exhaustedLeftAlone, finalizerFirst, intentFirst, launchedOnce } from "./launches.ts";
import { limitsKept } from "./limits.ts";
import { noticesHeeded } from "./notices.ts";
import { commandsEnd, deadlinesHold, endingsEnd, ghostsEnd, launchesEnd, taintsHaveReason } from "./progress.ts";
import { callsBounded } from "./thrift.ts";
import { factsStay, oneDecider } from "./writes.ts";

/** Every law that a run is held to. */
export const INVARIANTS: readonly Invariant[] = [
  ...[launchedOnce, intentFirst, finalizerFirst, boughtOnce, exhaustedLeftAlone, limitsKept],
  ...[taintedFirst, budgetsAsked, heldPodsStay, drainedFirst, finalizerLast, livingKeepTheirMachines],
  ...[budgetsKept, holdersLeftAlone, noticesHeeded, noOrphans],
  ...[launchesEnd, endingsEnd, deadlinesHold, commandsEnd, taintsHaveReason, ghostsEnd],
  ...[factsStay, oneDecider, callsBounded],
];
