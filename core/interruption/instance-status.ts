import type { InstanceStatus } from "../ports/fleet.ts";

/** What is wrong with an instance, as the metric's label `category` names it and as an interruption. */
export interface StatusProblem {
  readonly category: "InstanceStatus" | "SystemStatus" | "EventStatus";
  readonly kind: "instance_status" | "system_status" | "event_status";
}

/** A check that has failed for less may pass again by itself. */
const PATIENCE_MS = 120_000;

/** What counts of an instance's status: checks that have failed for two minutes, and all that EC2 has planned (interruption.md §5). */
export function statusProblems(status: InstanceStatus, now: number): readonly StatusProblem[] {
  const lasts = (since: number | undefined): boolean => since !== undefined && now - since >= PATIENCE_MS;
  return [
    ...(lasts(status.instanceFailedSince) ? [{ category: "InstanceStatus", kind: "instance_status" } as const] : []),
    ...(lasts(status.systemFailedSince) ? [{ category: "SystemStatus", kind: "system_status" } as const] : []),
    ...(status.events.length > 0 ? [{ category: "EventStatus", kind: "event_status" } as const] : []),
  ];
}
