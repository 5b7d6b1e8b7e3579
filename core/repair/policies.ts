import type { Condition } from "../model/kubernetes.ts";

/** A state of a node that a new machine mends, and how long it may last before that (nodeclaim-lifecycle.md §13). */
export interface RepairPolicy {
  readonly condition: string;
  readonly status: Condition["status"];
  readonly tolerationMs: number;
}

const MINUTE_MS = 60_000;

/** Of the kubelet and of EKS's node monitoring agent. */
export const REPAIR_POLICIES: readonly RepairPolicy[] = [
  { condition: "Ready", status: "False", tolerationMs: 30 * MINUTE_MS },
  { condition: "Ready", status: "Unknown", tolerationMs: 30 * MINUTE_MS },
  { condition: "AcceleratedHardwareReady", status: "False", tolerationMs: 10 * MINUTE_MS },
  { condition: "StorageReady", status: "False", tolerationMs: 30 * MINUTE_MS },
  { condition: "NetworkingReady", status: "False", tolerationMs: 30 * MINUTE_MS },
  { condition: "KernelReady", status: "False", tolerationMs: 30 * MINUTE_MS },
  { condition: "ContainerRuntimeReady", status: "False", tolerationMs: 30 * MINUTE_MS },
];
