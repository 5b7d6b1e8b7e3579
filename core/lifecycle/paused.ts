import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { Pause } from "../model/pause.ts";
import { pauseOf, pauseText } from "../pause/pause.ts";
import { isCovered, isVoluntaryEnd } from "../pause/voluntary.ts";
import type { ClaimView, Step } from "./action.ts";
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
 * The step in the place of the next one of a voluntary end: the node keeps the pods that it has, and its machine. The
 * end of a machine that has ended by itself, or was stopped, continues.
 */
export function terminationPaused({ pauses, now, instance }: ClaimView, record: NodeClaimRecord): Step | undefined {
  const { terminating } = record;
  if (terminating === undefined || !isVoluntaryEnd(record) || record.instance === undefined) return undefined;
  if (isCovered(terminating.at, now)) return undefined;
  if (pauses === undefined) return { actions: [], ask: "pauses" };
  const pause = pauseOf(pauses, "disruption", now);
  if (pause === undefined) return undefined;
  if (instance === undefined) return { actions: [], ask: "instance" };
  if (instance === "gone" || !RUNS.has(instance.state)) return undefined;
  return heldBy(pause, now);
}

/**
 * The step in the place of a launch, undefined when it may begin: the NodeClaim is removed, because its plan is old
 * when the pause ends, and its pods are planned for again then. A NodeClaim that was made by hand waits. A launch that
 * replaces a node that would be disrupted needs both.
 */
export function launchPaused(view: ClaimView, record: NodeClaimRecord): Step | undefined {
  const { pauses, now } = view;
  const isByHand = record.reason === "adopted";
  if (!isByHand && isCovered(record.createdAt, now)) return undefined;
  if (pauses === undefined) return { actions: [], ask: "pauses" };
  const isForDisruption = record.commandId !== undefined;
  const pause = pauseOf(pauses, "launches", now) ?? (isForDisruption ? pauseOf(pauses, "disruption", now) : undefined);
  if (pause === undefined) return undefined;
  if (isByHand) return heldBy(pause, now);
  const { actions } = markTerminating(view, record, "launch_paused", { detail: pauseText(pause) });
  return { actions: [...actions, ...(isForDisruption ? [] : wakePlanner(record, "launch_paused"))], again: true };
}
