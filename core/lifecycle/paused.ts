import type { NodeClaim } from "../model/node-claim.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { Pause } from "../model/pause.ts";
import { pauseOf, pauseText } from "../pause/pause.ts";
import { isVoluntaryEnd, PAUSE_AGE_MS } from "../pause/voluntary.ts";
import type { ClaimView, Step } from "./action.ts";
import { machineFields } from "./log-fields.ts";
import { markTerminating, wakePlanner } from "./mark-terminating.ts";

// What a NodeClaim does in the place of an act that a pause holds.

/** How often a NodeClaim that a pause holds is looked at, ms: so long after `resume` it continues at the latest. */
const PAUSED_POLL_MS = 60_000;

/** States of a machine that pods run on, or will. */
const RUNS: ReadonlySet<string> = new Set(["pending", "running"]);

const heldBy = ({ until = Number.POSITIVE_INFINITY }: Pause, now: number): Step => ({
  actions: [],
  wakeAt: Math.min(until, now + PAUSED_POLL_MS),
});

/** The step in the place of a voluntary end that would begin; undefined when it may. */
export function endPaused({ pauses, now }: ClaimView): Step | undefined {
  if (pauses === undefined) return { actions: [], ask: "pauses" };
  const pause = pauseOf(pauses, "disruption", now);
  return pause && heldBy(pause, now);
}

/**
 * The step in the place of the next one of a voluntary end: a NodeClaim that is not deleted yet stays, and one whose
 * drain has begun keeps the pods that it has, and its machine. The end of a machine that
 * has ended by itself, or was stopped, continues.
 */
export function terminationPaused(view: ClaimView, record: NodeClaimRecord, claim: NodeClaim | undefined): Step | undefined {
  const { pauses, now, instance } = view;
  const { terminating, ...rest } = record;
  if (terminating === undefined || !isVoluntaryEnd(record) || record.instance === undefined) return undefined;
  if (now - terminating.at < PAUSE_AGE_MS) return undefined;
  if (pauses === undefined) return { actions: [], ask: "pauses" };
  const pause = pauseOf(pauses, "disruption", now);
  if (pause === undefined) return undefined;
  if (instance === undefined) return { actions: [], ask: "instance" };
  if (instance === "gone" || !RUNS.has(instance.state)) return undefined;
  if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return heldBy(pause, now);
  const fields = { ...machineFields(record), pause: pauseText(pause) };
  return {
    actions: [
      { type: "WriteRecord", record: { ...rest, dueAt: now } },
      { type: "Log", level: "info", message: "nodeclaim stays, disruption is paused", fields },
    ],
    again: true,
  };
}

/**
 * The step in the place of a launch, undefined when it may begin: the NodeClaim is removed, because its plan is old
 * when the pause ends, and its pods are planned for again then. A NodeClaim that was made by hand waits. A launch that
 * replaces a node that would be disrupted needs both.
 */
export function launchPaused(view: ClaimView, record: NodeClaimRecord): Step | undefined {
  const { pauses, now } = view;
  const isByHand = record.reason === "adopted";
  if (!isByHand && now - record.createdAt < PAUSE_AGE_MS) return undefined;
  if (pauses === undefined) return { actions: [], ask: "pauses" };
  const isForDisruption = record.commandId !== undefined;
  const pause = pauseOf(pauses, "launches", now) ?? (isForDisruption ? pauseOf(pauses, "disruption", now) : undefined);
  if (pause === undefined) return undefined;
  if (isByHand) return heldBy(pause, now);
  const { actions } = markTerminating(view, record, "launch_paused", { detail: pauseText(pause) });
  return { actions: [...actions, ...(isForDisruption ? [] : wakePlanner(record, "launch_paused"))], again: true };
}
