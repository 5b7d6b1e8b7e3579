import { groupStep } from "../launch-group/step.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import { CREATION_REFUSED } from "../provisioning/refused.ts";
import type { ClaimView, Step } from "./action.ts";
import { machineFields } from "./log-fields.ts";
import { markTerminating, timeOut, wakePlanner } from "./mark-terminating.ts";
import { isLaunchGivenUp, isLaunchOverdue, UNTRIED_TIMEOUT_MS } from "./time-limits.ts";

// A NodeClaim from its record until its instance is known.

/** Wait before a launch that failed for a passing reason is retried. No benchmark has tuned it. */
const LAUNCH_RETRY_MS = 10_000;

/** A NodeClaim that could not be created for long is given up, so that its pods are planned again. */
export function createClaim({ now }: ClaimView, record: NodeClaimRecord): Step {
  if (record.instance === undefined && now - record.createdAt > UNTRIED_TIMEOUT_MS) {
    const detail = "the NodeClaim could not be created";
    const { actions } = markTerminating({ now }, record, "launch_timeout", { detail });
    return { actions: [...actions, ...wakePlanner(record, "launch_timeout")], again: true };
  }
  return { actions: [{ type: "CreateClaim", record }], again: true };
}

/**
 * Ends the intent of a NodeClaim that the API server refuses to create. The record is kept for a while, so that the
 * same NodeClaim is not planned again at once.
 */
export function refuseCreation(view: { readonly now: number }, record: NodeClaimRecord, message: string): Step {
  const refused = { ...record, refused: { message, at: view.now } };
  const { nodePool = "" } = record;
  const event = { type: "Warning", reason: CREATION_REFUSED_EVENT, message: `NodeClaim is refused: ${message}` } as const;
  return {
    actions: [
      ...markTerminating(view, refused, CREATION_REFUSED, { detail: message }).actions,
      {
        type: "Log",
        level: "error",
        message: "nodeclaim is refused by the API server",
        fields: { ...machineFields(record), error: message },
      },
      ...(nodePool === ""
        ? []
        : [{ type: "Event", event: { ...event, about: { kind: "NodePool", metadata: { name: nodePool } } } } as const]),
      ...wakePlanner(record, CREATION_REFUSED),
    ],
    again: true,
  };
}

/** Reason of the event on the NodePool. */
const CREATION_REFUSED_EVENT = "NodeClaimRefused";

/** The next step of a NodeClaim toward its instance. */
export function launch(view: ClaimView, record: NodeClaimRecord, claim: NodeClaim): Step {
  if (isLaunchOverdue(record, view.now)) {
    if (asksForGroup(view, record)) return { actions: [], ask: "launchGroup" };
    const group = view.launchGroup === "none" ? undefined : view.launchGroup;
    if (isLaunchGivenUp(record, group, view.now)) return timeOut(view, record, claim, "launch_timeout");
  }
  const retryAt = record.launchFailedAt === undefined ? 0 : record.launchFailedAt + LAUNCH_RETRY_MS;
  if (view.now < retryAt) return { actions: [], wakeAt: retryAt };
  const inGroup = groupLaunch(view, record, claim);
  return inGroup ?? { actions: [{ type: record.launch ? "Launch" : "PrepareLaunch", record, claim }], again: true };
}

/** Whether the NodeClaim has a group that has not been read. */
const asksForGroup = ({ launchGroup }: ClaimView, { launchGroup: plan, launch }: NodeClaimRecord): boolean =>
  plan?.joinedAt !== undefined && launch === undefined && launchGroup === undefined;

/** The next step of a NodeClaim as a member of its launch group; undefined when it is launched alone or ends. */
export function groupLaunch(
  { now, launchGroup: group }: ClaimView,
  record: NodeClaimRecord,
  claim: NodeClaim | undefined,
): Step | undefined {
  const step = groupStep({ now, record, claim, group });
  if (step === undefined) return undefined;
  switch (step.type) {
    case "Read":
      return { actions: [], ask: "launchGroup" };
    case "Wait":
      return { actions: [], wakeAt: step.waitUntil };
    case "LaunchAlone":
      return { actions: [{ type: "WriteRecord", record: step.record }], again: true };
    case "Search":
      return { actions: [{ type: "LaunchGroup", step, record, claim }], wakeAt: step.againAt };
    default:
      return { actions: [{ type: "LaunchGroup", step, record, claim }], again: true };
  }
}
