// core/launch-group: NodeClaims of one plan that are alike are launched by one CreateFleet.
// The record of a member and its group, as the table has them, come in; the member's next step goes out.
// Remote calls, and what a NodeClaim does before and after its launch, must not be known here.

import { launchFailed } from "../history/claim-entries.ts";
import { LAUNCH_UNLISTED_MS, pausedAfterMany } from "../launch/attempt.ts";
import type { HistoryEntry } from "../model/history-entry.ts";
import type { KnownInstance } from "../model/instance.ts";
import { type GroupAnswer, type GroupLaunch, type GroupMember, isClosed, type LaunchGroup } from "../model/launch-group.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { LaunchGroupPlan, NodeClaimRecord } from "../model/node-claim-record.ts";
import { instanceFor } from "./answer.ts";
import { alone, joining, withInstance } from "./member.ts";
import { alikeMembers, isComplete, launchHash, nextGroup } from "./plan.ts";

/*
 * Each member joins the group when it is ready to be launched: its custom resource exists, with the finalizer. The last
 * to join closes the group and sends its request; when one does not come, any member that has waited long enough does.
 * Which instance is whose is stored in one write, before any member acts on it. A NodeClaim that comes after its group
 * is closed is launched alone. Every step may be repeated after a kill, and taken by two members at the same time.
 */

/** What the next step of a member is decided from. */
interface GroupView {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly record: NodeClaimRecord;
  /** Absent once it is gone; a member that ends needs none. */
  readonly claim: NodeClaim | undefined;
  /** "none" where the table has none; undefined until it has been read. */
  readonly group: LaunchGroup | "none" | undefined;
}

/** A step that needs calls of the table, EC2 or the queue; functions/lifecycle/launch/launch-group.ts makes them. */
export type GroupStep =
  /** Write `record`, if given, so that older code leaves the NodeClaim alone; then join the group. */
  | {
      readonly type: "Join";
      readonly record?: NodeClaimRecord;
      readonly id: string;
      readonly member: GroupMember;
      readonly expiresAt: number;
    }
  /**
   * Render the request for `members` and store it, after which no other can join. Dissolve when there is no request.
   */
  | { readonly type: "Close"; readonly group: LaunchGroup; readonly plan: LaunchGroupPlan; readonly members: readonly string[] }
  /** Store that the group has no request: each member is launched alone. */
  | { readonly type: "Dissolve"; readonly group: LaunchGroup }
  /** Send the stored request, and store which instance is whose. */
  | { readonly type: "Send"; readonly group: SentGroup }
  /** Store the instance that the answer has for the member. */
  | { readonly type: "Take"; readonly group: SentGroup; readonly record: NodeClaimRecord; readonly instance: KnownInstance }
  /** Store that the answer has no instance for the member: `record` is that of the next attempt. */
  | { readonly type: "Retry"; readonly record: NodeClaimRecord; readonly history: readonly HistoryEntry[] }
  /** The same; EC2 has said why, and no mark of an offering covers it. */
  | { readonly type: "Refuse"; readonly record: NodeClaimRecord; readonly failure: NonNullable<GroupAnswer["failure"]> }
  /** Leave a group whose request is not stored. */
  | { readonly type: "Leave"; readonly group: LaunchGroup }
  /** Store the instance of a member that ends, so that the instance ends, too. */
  | { readonly type: "TakeToEnd"; readonly record: NodeClaimRecord }
  /** Search EC2 for the instances of a group whose answer is missing. */
  | { readonly type: "Search"; readonly group: SentGroup; readonly againAt: number }
  /** Give the instance the tags of its own NodeClaim. */
  | { readonly type: "Tag"; readonly record: NodeClaimRecord };

/** What is decided for a member. */
type GroupDecision =
  | GroupStep
  /** Nothing to do until then, ms since the epoch. */
  | { readonly type: "Wait"; readonly waitUntil: number }
  /** The decision needs the group, which must be read. */
  | { readonly type: "Read" }
  /** The NodeClaim is launched alone from now on, and its record must say so. */
  | { readonly type: "LaunchAlone"; readonly record: NodeClaimRecord };

/** A group whose request is stored. */
export type SentGroup = LaunchGroup & { readonly launch: GroupLaunch };

/** Members whose time has come check one after another, so that the first closes the group for all. */
const JOIN_STEP_MS = 250;
/** When members send a request whose sender has not answered: longer than any call takes. No benchmark has tuned it. */
const RESEND_MS = 20_000;
const RESEND_STEP_MS = 4_000;
/** How often a member that ends checks for its instance. */
const POLL_MS = 5_000;
/** A group is needed until its last member has timed out; the table keeps it for much longer. */
const GROUP_LIFE_MS = 60 * 60_000;

/**
 * The next step of a NodeClaim as a member of its launch group; undefined when it has nothing to do with one (any
 * more): it is launched alone, or its instance is tagged, or it ends without an instance of the group.
 * @example
 * const decision = groupStep({ now, record, claim, group }); // { type: "Send", group }
 */
export function groupStep(view: GroupView): GroupDecision | undefined {
  const { record, claim, group } = view;
  const { launchGroup: plan, instance, terminating } = record;
  if (instance !== undefined) return record.dueTags && terminating === undefined ? { type: "Tag", record } : undefined;
  if (plan === undefined || record.launch !== undefined) return undefined;
  if (terminating !== undefined) return plan.joinedAt === undefined ? undefined : endingStep(view);
  if (group === undefined) return { type: "Read" };
  if (group === "none" || !isClosed(group)) return claim && openStep(view, plan, claim, group);
  if (!isMemberOf(group, record.name)) return { type: "LaunchAlone", record: alone(record) };
  if (group.answer !== undefined) return answeredStep(view, plan, group, group.answer);
  const sendAt = sendAtOf(group.launch, record.name);
  return view.now < sendAt ? { type: "Wait", waitUntil: sendAt } : { type: "Send", group };
}

/** While members may join. */
function openStep({ now, record }: GroupView, plan: LaunchGroupPlan, claim: NodeClaim, group: LaunchGroup | "none"): GroupDecision {
  const alike = launchHash(claim);
  if (group === "none" || plan.joinedAt === undefined || !group.members.some(({ name }) => name === record.name)) {
    const joined = plan.joinedAt === undefined && { record: joining(record, plan, claim.metadata.uid ?? "", now) };
    return { type: "Join", ...joined, id: plan.id, member: { name: record.name, alike }, expiresAt: now + GROUP_LIFE_MS };
  }
  const due = plan.joinedAt + plan.joinMs + placeOf(record.name, plan.members) * JOIN_STEP_MS;
  if (!isComplete(plan, group) && now < due) return { type: "Wait", waitUntil: due };
  const members = alikeMembers(group, alike);
  return members.length < 2 || !members.includes(record.name) ? { type: "Dissolve", group } : { type: "Close", group, plan, members };
}

/** Once the answer is stored. */
function answeredStep({ now, record }: GroupView, plan: LaunchGroupPlan, group: SentGroup, answer: GroupAnswer): GroupDecision {
  const { launchFailedAt: _, ...tried } = { ...alone(record), launchAttempts: record.launchAttempts + 1 };
  const instance = instanceFor(group, record.name);
  if (instance) return { type: "Take", group, record: tried, instance };
  const next = nextGroup(plan, group);
  const left = { ...tried, ...(next && { launchGroup: next }) };
  const { failure, unavailable } = answer;
  if (failure === undefined) return { type: "Retry", record: pausedAfterMany(left, now), history: [] };
  if (failure.kind === "InsufficientCapacity" && unavailable.length > 0) {
    const history = [launchFailed(left, now, { ...failure, unavailable })];
    return { type: "Retry", record: pausedAfterMany(left, now), history };
  }
  return { type: "Refuse", record: left, failure };
}

/**
 * The step of a member that ends, toward the instance that its group may have for it. Before the request is stored it
 * leaves the group; afterwards it waits for the answer.
 */
function endingStep({ now, record, group }: GroupView): GroupDecision | undefined {
  const { name } = record;
  if (group === undefined) return { type: "Read" };
  if (group === "none") return undefined;
  if (!isClosed(group)) return group.members.some((member) => member.name === name) ? { type: "Leave", group } : undefined;
  if (!isMemberOf(group, name)) return undefined;
  const { requestedAt, unknownAt = 0 } = group.launch;
  if (group.answer !== undefined) {
    const instance = instanceFor(group, name);
    return instance && { type: "TakeToEnd", record: withInstance(record, instance, group.launch, requestedAt) };
  }
  // Another member may be sending the request at this moment. What appears later is garbage-collected.
  const sentAtLatest = Math.max(requestedAt, unknownAt, record.terminating?.at ?? 0);
  if (now - sentAtLatest > LAUNCH_UNLISTED_MS + 3 * POLL_MS) return undefined;
  // The request waits for EC2's request limit. A member that has an answer earlier wakes the others.
  if (now < requestedAt) return { type: "Wait", waitUntil: requestedAt };
  return { type: "Search", group, againAt: now + POLL_MS };
}

function isMemberOf(group: LaunchGroup, name: string): group is SentGroup {
  return group.launch?.members.includes(name) ?? false;
}

/** When a member sends the request of its group, ms: the sender at once, the others one after another if it fails. */
function sendAtOf({ requestedAt, sender, members }: GroupLaunch, name: string): number {
  return sender === name ? requestedAt : requestedAt + RESEND_MS + placeOf(name, members) * RESEND_STEP_MS;
}

const placeOf = (name: string, members: readonly string[]): number => Math.max(members.indexOf(name), 0);
