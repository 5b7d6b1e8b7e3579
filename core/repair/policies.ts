import type { Condition } from "../model/kubernetes.ts";

/** A condition of a node that is repaired by replacing the node, and how long it is tolerated before. */
interface RepairPolicy {
  readonly condition: string;
  readonly status: Condition["status"];
  readonly tolerationMs: number;
}

const MINUTE_MS = 60_000;

/**
 * Conditions of the kubelet and of EKS's node monitoring agent
 * (karpenter-provider-aws: pkg/cloudprovider/cloudprovider.go, CloudProvider.RepairPolicies).
 */
export const REPAIR_POLICIES: readonly RepairPolicy[] = [
  { condition: "Ready", status: "False", tolerationMs: 30 * MINUTE_MS },
  { condition: "Ready", status: "Unknown", tolerationMs: 30 * MINUTE_MS },
  { condition: "AcceleratedHardwareReady", status: "False", tolerationMs: 10 * MINUTE_MS },
  { condition: "StorageReady", status: "False", tolerationMs: 30 * MINUTE_MS },
  { condition: "NetworkingReady", status: "False", tolerationMs: 30 * MINUTE_MS },
  { condition: "KernelReady", status: "False", tolerationMs: 30 * MINUTE_MS },
  { condition: "ContainerRuntimeReady", status: "False", tolerationMs: 30 * MINUTE_MS },
];
