import type { InstanceStatus } from "../ports/fleet.ts";

/** A problem of an instance: the metric's label `category`, and the kind of interruption. */
interface StatusProblem {
  readonly category: "InstanceStatus" | "SystemStatus" | "EventStatus";
  readonly kind: "instance_status" | "system_status" | "event_status";
}

/** A check that has failed for a shorter time may pass again. */
const MIN_FAILED_MS = 120_000;

/**
 * The problems that count: checks that have failed for two minutes, and every event that EC2 has scheduled
 * (karpenter-provider-aws: pkg/controllers/interruption/instancestatus_controller.go, InstanceStatusController).
 */
export function statusProblems(status: InstanceStatus, now: number): readonly StatusProblem[] {
  const lasts = (since: number | undefined): boolean => since !== undefined && now - since >= MIN_FAILED_MS;
  return [
    ...(lasts(status.instanceFailedSince) ? [{ category: "InstanceStatus", kind: "instance_status" } as const] : []),
    ...(lasts(status.systemFailedSince) ? [{ category: "SystemStatus", kind: "system_status" } as const] : []),
    ...(status.events.length > 0 ? [{ category: "EventStatus", kind: "event_status" } as const] : []),
  ];
}
