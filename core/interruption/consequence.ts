import type { CapacityType } from "../model/instance-type.ts";
import type { InterruptionKind } from "./parse.ts";

/** What a kind of interruption leads to (interruption.md §3). */
export interface Consequence {
  /** "CordonAndDrain" ends the claim as any other; "ForcefulTermination" waits for nothing. */
  readonly action: "NoAction" | "CordonAndDrain" | "ForcefulTermination";
  /** What EC2 takes back: nothing of that kind is bought of this type in this zone for a while. */
  readonly soldOut?: CapacityType;
  /** The event that people see on the claim and its node. */
  readonly event: { readonly type: "Normal" | "Warning"; readonly reason: string; readonly message: string };
}

const unhealthy = { type: "Warning", reason: "InstanceUnhealthy", message: "An unhealthy warning was triggered for the instance" } as const;

/** By kind; a no_op has none. */
export const CONSEQUENCES: Readonly<Record<Exclude<InterruptionKind, "no_op">, Consequence>> = {
  spot_interrupted: {
    action: "CordonAndDrain",
    soldOut: "spot",
    event: { type: "Warning", reason: "SpotInterrupted", message: "Spot interruption warning was triggered" },
  },
  rebalance_recommendation: {
    action: "NoAction",
    event: { type: "Normal", reason: "SpotRebalanceRecommendation", message: "Spot rebalance recommendation was triggered" },
  },
  scheduled_change: { action: "CordonAndDrain", event: unhealthy },
  instance_stopped: { action: "CordonAndDrain", event: { type: "Warning", reason: "InstanceStopping", message: "Instance is stopping" } },
  instance_terminated: {
    action: "CordonAndDrain",
    event: { type: "Warning", reason: "InstanceTerminating", message: "Instance is terminating" },
  },
  capacity_reservation_interrupted: {
    action: "CordonAndDrain",
    soldOut: "reserved",
    event: {
      type: "Warning",
      reason: "CapacityReservationInstanceInterrupted",
      message: "Capacity reservation interruption warning was triggered for the instance",
    },
  },
  instance_status: { action: "ForcefulTermination", event: unhealthy },
  system_status: { action: "ForcefulTermination", event: unhealthy },
  event_status: { action: "CordonAndDrain", event: unhealthy },
};
