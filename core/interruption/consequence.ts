// core/interruption: what EC2's interruption notices and status checks mean for a node.
// EventBridge events as text and instance statuses come in; instance ids, kinds and consequences go out.
// Queues, NodeClaims and the store must not be known here.

import type { CapacityType } from "../model/instance-type.ts";
import type { InterruptionKind } from "./parse.ts";

/**
 * The consequence of one kind of interruption
 * (karpenter-provider-aws: pkg/controllers/interruption/controller.go, Controller.Reconcile).
 */
interface Consequence {
  /** "CordonAndDrain" terminates the NodeClaim with a drain; "ForcefulTermination" waits for nothing. */
  readonly action: "NoAction" | "CordonAndDrain" | "ForcefulTermination";
  /**
   * The capacity type that EC2 takes back: offerings of the instance type in its zone count as unavailable for a while.
   */
  readonly soldOut?: CapacityType;
  /** The Kubernetes Event on the NodeClaim and its node. */
  readonly event: { readonly type: "Normal" | "Warning"; readonly reason: string; readonly message: string };
}

const unhealthy = { type: "Warning", reason: "InstanceUnhealthy", message: "An unhealthy warning was triggered for the instance" } as const;

/** By kind; a no_op has no consequence. */
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
