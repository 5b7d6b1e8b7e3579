import { type GroupLaunch, instanceFor, isClosed, type LaunchGroup } from "../model/launch-group.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { LaunchGroupPlan, NodeClaimRecord } from "../model/node-claim-record.ts";
import { GROUP_SCHEMA, RECORD_SCHEMA } from "../model/read-record.ts";
import { isComplete } from "../provisioning/launch-groups.ts";
import type { ClaimView, Step } from "./action.ts";
import { LAUNCH_UNLISTED_MS } from "./time-limits.ts";

/*
 * NodeClaims of one plan that are alike are launched by one CreateFleet. Each joins the group when it is ready to be
 * launched: its custom resource exists, with the finalizer. The last to join closes the group and sends its request;
 * where one does not come, whoever has waited long enough does. Which instance is whose is stored in one write, before
 * anybody acts on it. A NodeClaim that comes when its group is closed is launched alone.
 */

/** Members whose time has come look in turn, so that the first closes the group for all. */
const JOIN_STEP_MS = 250;
/** When members send a request whose sender has not answered: longer than any call takes. No benchmark has tuned it. */
const RESEND_MS = 20_000;
const RESEND_STEP_MS = 4_000;
/** How often a member that ends looks whether it has an instance. */
const POLL_MS = 5_000;

/** The next step toward a launch together with others; undefined when the NodeClaim is launched alone. */
export function launchTogether(view: ClaimView, record: NodeClaimRecord, claim: NodeClaim): Step | undefined {
  const { launchGroup: plan } = record;
  if (plan === undefined || record.launch !== undefined) return undefined;
  const { launchGroup: group, now } = view;
  if (group === undefined) return { actions: [], ask: "launchGroup" };
  if (group === "none" || !isClosed(group)) {
    const isMember = group !== "none" && group.members.some(({ name }) => name === record.name);
    if (group === "none" || !isMember || plan.joinedAt === undefined)
      return { actions: [{ type: "JoinLaunch", record, claim }], again: true };
    const due = plan.joinedAt + plan.joinMs + placeOf(record.name, plan.members) * JOIN_STEP_MS;
    if (!isComplete(plan, group) && now < due) return { actions: [], wakeAt: due };
    return { actions: [{ type: "CloseLaunch", record, claim, group }], again: true };
  }
  if (!isMemberOf(group, record.name)) return { actions: [{ type: "WriteRecord", record: alone(record) }], again: true };
  if (group.answer === undefined) {
    const sendAt = sendAtOf(group.launch, record.name);
    if (now < sendAt) return { actions: [], wakeAt: sendAt };
    return { actions: [{ type: "LaunchGroup", record, claim, group }], again: true };
  }
  return { actions: [{ type: "TakeFromGroup", record, claim, group }], again: true };
}

type Sent = LaunchGroup & { readonly launch: GroupLaunch };

function isMemberOf(group: LaunchGroup, name: string): group is Sent {
  return group.launch?.members.includes(name) ?? false;
}

/** When a member sends the request of its group, ms: the sender at once, the others one after another if it fails. */
function sendAtOf({ requestedAt, sender, members }: GroupLaunch, name: string): number {
  return sender === name ? requestedAt : requestedAt + RESEND_MS + placeOf(name, members) * RESEND_STEP_MS;
}

const placeOf = (name: string, members: readonly string[]): number => Math.max(members.indexOf(name), 0);

/** The record of a NodeClaim that joins: from now on older code leaves it alone. */
export function joining(record: NodeClaimRecord, plan: LaunchGroupPlan, uid: string, now: number): NodeClaimRecord {
  return { ...record, uid, launchGroup: { ...plan, joinedAt: plan.joinedAt ?? now }, schema: GROUP_SCHEMA };
}

/** The record of a NodeClaim that is launched alone from now on, or that has its instance. */
export function alone({ launchGroup: _, ...record }: NodeClaimRecord): NodeClaimRecord {
  return { ...record, schema: RECORD_SCHEMA };
}

/**
 * Whether what EC2 lists of a group is all that its request has launched, when the answer is lost: as many as it was
 * for, or so long ago that all must be listed.
 */
export function isSettled({ members, ...sent }: GroupLaunch, listed: number, now: number): boolean {
  return listed >= members.length || isListed(sent, now);
}

/**
 * Whether EC2 lists what the calls of a request have launched: the first one at `requestedAt`, and those whose outcome
 * is unknown, the last at `unknownAt`; ms.
 */
export const isListed = ({ requestedAt = 0, unknownAt = 0 }: Partial<GroupLaunch>, now: number): boolean =>
  now - Math.max(requestedAt, unknownAt) >= LAUNCH_UNLISTED_MS;

/**
 * The next step of a termination toward the instance that the NodeClaim's group may have for it; undefined when there
 * is none. Before the request is stored it leaves the group; afterwards it waits for the answer, and takes its instance
 * so that it ends.
 */
export function leaveGroup({ launchGroup: group, now }: ClaimView, record: NodeClaimRecord): Step | undefined {
  const { launchGroup: plan, name } = record;
  if (plan?.joinedAt === undefined || record.instance !== undefined) return undefined;
  if (group === undefined) return { actions: [], ask: "launchGroup" };
  if (group === "none") return undefined;
  if (!isClosed(group)) {
    if (!group.members.some((member) => member.name === name)) return undefined;
    return { actions: [{ type: "LeaveLaunch", record, group }], again: true };
  }
  if (!isMemberOf(group, name)) return undefined;
  if (group.answer !== undefined) {
    const instance = instanceFor(group, name);
    return instance && { actions: [{ type: "TakeForEnd", record, group }], again: true };
  }
  // Another member may be sending the request at this moment. What appears later is garbage-collected.
  const { requestedAt, unknownAt = 0 } = group.launch;
  const sentAtLatest = Math.max(requestedAt, unknownAt, record.terminating?.at ?? 0);
  if (now - sentAtLatest > LAUNCH_UNLISTED_MS + 3 * POLL_MS) return undefined;
  // It is put off. Whoever has an answer earlier wakes the others.
  if (now < group.launch.requestedAt) return { actions: [], wakeAt: group.launch.requestedAt };
  return { actions: [{ type: "FindGroup", record, group }], wakeAt: now + POLL_MS };
}
