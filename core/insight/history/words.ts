import { CONSEQUENCES } from "../../interruption/consequence.ts";
import type { HistoryMachine } from "../../model/history-entry.ts";

/** USD, with more digits the smaller the amount: "$12.30", "$0.0123". */
export function dollars(usd: number): string {
  const amount = Math.abs(usd);
  return `${usd < 0 ? "-" : ""}$${amount >= 1 || amount === 0 ? amount.toFixed(2) : amount.toFixed(4)}`;
}

/** "a, b and 7 more". */
export function someOf(names: readonly string[], count = names.length, max = 3): string {
  const shown = names.slice(0, max);
  const more = count - shown.length;
  return more > 0 ? `${shown.join(", ")} and ${more} more` : shown.join(", ");
}

export const counted = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? "" : "s"}`;

/** "m5.large spot in us-west-2a". */
export const kindOf = ({ instanceType, capacityType, zone }: Pick<HistoryMachine, "instanceType" | "capacityType" | "zone">): string =>
  `${instanceType} ${capacityType} in ${zone}`;

const WHY_IT_ENDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    empty: "no pods ran on it but those of DaemonSets",
    underutilized: "its pods fit elsewhere for less",
    drifted: "it differs from what its NodePool and EC2NodeClass now ask for",
    asleep: "its NodePool sleeps",
    expired: "it was as old as expireAfter allows",
    deleted: "it was deleted",
    launch_timeout: "no machine was launched in time",
    registration_timeout: "its node did not join the cluster in time",
    insufficient_capacity: "EC2 gave no machine for it",
    nodeclass_not_ready: "its EC2NodeClass was not ready",
    launch_paused: "launches were paused before its machine was bought",
    creation_refused: "the API server refused the NodeClaim",
    garbage_collected: "EC2 no longer had its machine",
    unhealthy: "its node was unhealthy for too long",
    capacity_block_expiring: "its capacity block is about to end",
    instance_status: "an instance status check of EC2 fails",
    system_status: "a system status check of EC2 fails",
    event_status: "EC2 has scheduled an event for its machine",
    ...Object.fromEntries(
      (
        ["spot_interrupted", "scheduled_change", "instance_stopped", "instance_terminated", "capacity_reservation_interrupted"] as const
      ).map((kind) => [kind, CONSEQUENCES[kind].event.message]),
    ),
    instance_stopped: "its machine was stopped, and not by us",
    instance_terminated: "its machine was terminated, and not by us",
  }),
);

/** Reasons of an end that EC2 gave, and not a decision of ours or a user. */
export const INTERRUPTIONS: ReadonlySet<string> = new Set(Object.keys(CONSEQUENCES));

/** What a reason of termination means; the reason itself for one that this version does not know. */
export const whyItEnds = (reason: string): string => WHY_IT_ENDS.get(reason) ?? reason;
