import { budgetsKept, endsHaveCause, holdersLeftAlone, reasonsTrue, replacementsFirst } from "./disruptions.ts";
import { finalizerLast, livingKeepTheirMachines, noOrphans } from "./endings.ts";
import { budgetsAsked, drainedFirst, heldPodsStay, taintedFirst } from "./evictions.ts";
import { firstDriftWaited } from "./first-drift.ts";
import type { Invariant, Law } from "./invariant.ts";
import { exhaustedLeftAlone, finalizerFirst, givenUpAfterTry, intentFirst, launchedOnce, launchedTogetherOnce } from "./launches.ts";
import { limitsKept, sleepersLeftAlone } from "./limits.ts";
import { neighbourLeftAlone, secondServed } from "./neighbours.ts";
import { drainedInTime, noticesHeeded, noticesRemembered } from "./notices.ts";
import { dearLeftAlone } from "./overlays.ts";
import { pausesHold } from "./pauses.ts";
import { commandsEnd, deadlinesHold, destinationsStay, endingsEnd, ghostsEnd, launchesEnd, taintsHaveReason } from "./progress.ts";
import { boughtOnce } from "./purchases.ts";
import { fewRepaired, repairsBudgeted, sickReplaced } from "./repairs.ts";
import { replicasKept } from "./static-pools.ts";
import { callsBounded } from "./thrift.ts";
import { endsTold, launchesTold } from "./told.ts";
import { podsPlacedInTime, startupTaintsHonoured, waitersTold } from "./waiting.ts";
import { factsStay, oneDecider } from "./writes.ts";

/** The invariants that hold at every moment of a run. */
export const INVARIANTS: readonly Invariant[] = [
  pausesHold,
  ...[launchedOnce, launchedTogetherOnce, givenUpAfterTry, intentFirst, finalizerFirst, boughtOnce, exhaustedLeftAlone],
  ...[limitsKept, sleepersLeftAlone],
  ...[taintedFirst, budgetsAsked, heldPodsStay, drainedFirst, finalizerLast, livingKeepTheirMachines],
  ...[
    budgetsKept,
    firstDriftWaited,
    holdersLeftAlone,
    reasonsTrue,
    endsHaveCause,
    replacementsFirst,
    noticesHeeded,
    drainedInTime,
    noticesRemembered,
    noOrphans,
  ],
  ...[launchesEnd, endingsEnd, deadlinesHold, commandsEnd, destinationsStay, taintsHaveReason, ghostsEnd],
  ...[podsPlacedInTime, waitersTold, startupTaintsHonoured],
  ...[factsStay, oneDecider, callsBounded, endsTold, launchesTold],
  ...[replicasKept, sickReplaced, fewRepaired, repairsBudgeted, dearLeftAlone, neighbourLeftAlone, secondServed],
];

/** What must happen in time: a pause holds it, or the work that is behind when the pause ends. */
const IN_TIME: ReadonlySet<Invariant> = new Set([
  ...[launchesEnd, endingsEnd, deadlinesHold, commandsEnd, taintsHaveReason, givenUpAfterTry, drainedInTime],
  ...[podsPlacedInTime, waitersTold, endsTold, replicasKept, sickReplaced, fewRepaired, repairsBudgeted, secondServed],
]);

/** Those that a run with pauses is held to. */
export const WHILE_PAUSED: readonly Invariant[] = INVARIANTS.filter((one) => !IN_TIME.has(one));

/** The invariant that play.ts checks itself. */
export const COMES_TO_REST: Law = {
  name: "comes to rest",
  law: "Once the faults end, every pod that can run runs, and claims, records, machines and nodes agree: nothing is left over.",
};
export const NOTHING_THROWS: Law = { name: "nothing throws", law: "No part of the world, and no handler's host, ends in an error." };

export const LAWS: readonly Law[] = [...INVARIANTS, COMES_TO_REST, NOTHING_THROWS];
