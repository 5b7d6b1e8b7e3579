import { isListed } from "../launch/attempt.ts";
import { failureOf, failureReason } from "../launch/failure.ts";
import { knownInstance } from "../launch/outcome.ts";
import { ownValue } from "../lib/own-value.ts";
import type { FleetResult } from "../model/fleet.ts";
import type { Instance, KnownInstance } from "../model/instance.ts";
import type { GroupAnswer, GroupLaunch, LaunchGroup } from "../model/launch-group.ts";
import { LAUNCH_GROUP_TAG } from "../model/tags.ts";
import type { UnavailableOffering } from "../model/unavailable-offering.ts";
import { withoutCauses } from "../offerings/unavailable.ts";

/** A message of EC2 for hundreds of offerings may be long, and the answer is one item of the table. */
const MAX_MESSAGE = 2_000;

/**
 * The answer to the request of a group: its instances by their ids, each for the member in the same place of the order
 * of names. Equal answers give equal assignments, whichever member reads them.
 * @param unavailable the offerings that the request found without capacity
 */
export function groupAnswer(
  { request, members }: GroupLaunch,
  instances: readonly KnownInstance[],
  errors: FleetResult["errors"],
  unavailable: readonly UnavailableOffering[],
): GroupAnswer {
  const sorted = instances.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const assigned = members.flatMap((name, i) => {
    const instance = sorted[i];
    return instance ? [[name, knownInstance(request, instance)] as const] : [];
  });
  const answer = { instances: Object.fromEntries(assigned), unavailable: withoutCauses(unavailable) };
  if (assigned.length === members.length || errors.length === 0) return answer;
  const { kind, reason, message } = failureOf(errors);
  const failure = { kind: kind === "InsufficientCapacity" ? kind : ("Refused" as const), reason, message: message.slice(0, MAX_MESSAGE) };
  return { ...answer, failure };
}

/** The instances that were launched for a group, among those that EC2 lists. */
export function launchedForGroup(id: string, instances: readonly Instance[]): readonly Instance[] {
  return instances.filter(({ tags }) => tags[LAUNCH_GROUP_TAG] === id);
}

/** The instance that a group's answer gives to a NodeClaim. */
export function instanceFor({ answer }: LaunchGroup, name: string): KnownInstance | undefined {
  return answer && ownValue(answer.instances, name);
}

/**
 * Whether what EC2 lists of a group is all that its request has launched, when the answer is lost: as many as it was
 * for, or so long ago that all must be listed.
 */
export function isSettled({ members, ...sent }: GroupLaunch, listed: number, now: number): boolean {
  return listed >= members.length || isListed(sent, now);
}

/**
 * The answer after a call whose outcome is unclear: an earlier call may have launched instances. Undefined until EC2
 * must list all of them.
 * @param listed the instances of the group that EC2 lists
 * @param error of the call; `isTemplateGone`: its launch template was garbage-collected, so that the call has launched
 * none, and the next attempt creates the template again
 */
export function answerFromListing(
  launch: GroupLaunch,
  listed: readonly KnownInstance[],
  error: { readonly message: string; readonly isTemplateGone: boolean },
  now: number,
): GroupAnswer | undefined {
  const isNone = error.isTemplateGone && listed.length === 0;
  if (!isNone && !isSettled(launch, listed.length, now)) return undefined;
  const answer = groupAnswer(launch, listed, [], []);
  if (isNone || listed.length >= launch.members.length) return answer;
  return { ...answer, failure: { kind: "Refused", reason: failureReason(error.message), message: error.message } };
}
