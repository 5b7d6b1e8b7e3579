import type { Condition } from "../model/kubernetes.ts";

/** A condition of a node that is repaired, and how long it is tolerated before. */
interface LegacyPolicy {
  readonly condition: string;
  readonly status: Condition["status"];
  readonly tolerationMs: number;
}

/** How a node is repaired for a condition. */
export interface RepairPolicy extends LegacyPolicy {
  /**
   * The reasons of the condition that it is for, found anywhere in them; without a pattern those that no other policy
   * of the condition names.
   */
  readonly reasons?: RegExp;
  /** The drain ends after this time, whatever blocks it, ms. */
  readonly drainMs: number;
  /** A reboot clears the fault. */
  readonly reboots?: true;
}

const MINUTE_MS = 60_000;
const USUAL = { tolerationMs: 30 * MINUTE_MS, drainMs: 10 * MINUTE_MS };
/** A GPU whose fault is known is not given the time in which an unknown one may pass. */
const KNOWN_GPU_FAULT = { tolerationMs: 10 * MINUTE_MS, drainMs: 5 * MINUTE_MS };

/**
 * Conditions of the kubelet and of EKS's node monitoring agent, which names the XID of a GPU in the reason. All have
 * the same priority there, so none is given here
 * (karpenter-provider-aws: pkg/cloudprovider/cloudprovider.go, CloudProvider.RepairPolicies).
 */
export const REPAIR_POLICIES: readonly RepairPolicy[] = [
  { condition: "Ready", status: "False", ...USUAL },
  { condition: "Ready", status: "Unknown", ...USUAL },
  // Faults that a reboot clears.
  {
    condition: "AcceleratedHardwareReady",
    status: "False",
    reasons: /XID(?:46|48|54|62|63|95|109|110|136|140|143|155|156|158)/,
    reboots: true,
    ...KNOWN_GPU_FAULT,
  },
  // Broken hardware.
  { condition: "AcceleratedHardwareReady", status: "False", reasons: /XID(?:64|74|79|119|120)/, ...KNOWN_GPU_FAULT },
  { condition: "AcceleratedHardwareReady", status: "False", ...USUAL },
  { condition: "StorageReady", status: "False", ...USUAL },
  { condition: "NetworkingReady", status: "False", ...USUAL },
  { condition: "KernelReady", status: "False", ...USUAL },
  { condition: "ContainerRuntimeReady", status: "False", ...USUAL },
];

/**
 * The policies under LEGACY_NODE_REPAIR: each for every reason of its condition
 * (karpenter-provider-aws: pkg/cloudprovider/cloudprovider.go, legacyRepairPolicies).
 */
export const LEGACY_POLICIES: readonly LegacyPolicy[] = [
  { condition: "Ready", status: "False", tolerationMs: 30 * MINUTE_MS },
  { condition: "Ready", status: "Unknown", tolerationMs: 30 * MINUTE_MS },
  { condition: "AcceleratedHardwareReady", status: "False", tolerationMs: 10 * MINUTE_MS },
  { condition: "StorageReady", status: "False", tolerationMs: 30 * MINUTE_MS },
  { condition: "NetworkingReady", status: "False", tolerationMs: 30 * MINUTE_MS },
  { condition: "KernelReady", status: "False", tolerationMs: 30 * MINUTE_MS },
  { condition: "ContainerRuntimeReady", status: "False", tolerationMs: 30 * MINUTE_MS },
];
