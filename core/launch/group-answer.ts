import type { FleetResult } from "../model/fleet.ts";
import type { Instance, KnownInstance } from "../model/instance.ts";
import type { GroupAnswer, GroupLaunch } from "../model/launch-group.ts";
import { LAUNCH_GROUP_TAG } from "../model/tags.ts";
import type { UnavailableOffering } from "../model/unavailable-offering.ts";
import { failureOf } from "./failure.ts";
import { knownInstance } from "./outcome.ts";

/** A message of EC2 for hundreds of offerings may be long, and the answer is one item of the table. */
const MAX_MESSAGE = 2_000;

/**
 * The answer to the request of a group: its instances by their ids, each for the member in the same place of the order
 * of names. Equal answers give equal assignments, whoever reads them.
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
  const answer = { instances: Object.fromEntries(assigned), unavailable };
  if (assigned.length === members.length || errors.length === 0) return answer;
  const { kind, reason, message } = failureOf(errors);
  const failure = { kind: kind === "InsufficientCapacity" ? kind : ("Refused" as const), reason, message: message.slice(0, MAX_MESSAGE) };
  return { ...answer, failure };
}

/** The instances that were launched for a group, among those that EC2 lists. */
export function launchedForGroup(id: string, instances: readonly Instance[]): readonly Instance[] {
  return instances.filter(({ tags }) => tags[LAUNCH_GROUP_TAG] === id);
}
