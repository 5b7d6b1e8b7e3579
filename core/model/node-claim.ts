import type { Condition, KubernetesObject, ResourceList } from "./kubernetes.ts";
import type { NodeClassReference, NodeSelectorRequirementWithMinValues } from "./node-pool.ts";
import type { Taint } from "./taint.ts";

export interface NodeClaimSpec {
  readonly requirements: readonly NodeSelectorRequirementWithMinValues[];
  readonly resources?: { readonly requests?: ResourceList };
  readonly taints?: readonly Taint[];
  readonly startupTaints?: readonly Taint[];
  readonly nodeClassRef: NodeClassReference;
  readonly expireAfter?: string;
  readonly terminationGracePeriod?: string;
}

interface NodeClaimStatus {
  readonly providerID?: string;
  readonly imageID?: string;
  readonly nodeName?: string;
  readonly capacity?: ResourceList;
  readonly allocatable?: ResourceList;
  readonly lastPodEventTime?: string;
  readonly conditions?: readonly Condition[];
}

/** karpenter.sh/v1 NodeClaim. */
export interface NodeClaim extends KubernetesObject {
  readonly spec: NodeClaimSpec;
  readonly status?: NodeClaimStatus;
}

/** Prefix of the placeholder providerID of a NodeClaim that is not launched. */
export const INTENDED = "intent:///";

/** Whether a NodeClaim is only shown as capacity on its way (core/provisioning/in-flight.ts). */
export function isIntended({ status }: NodeClaim): boolean {
  return status?.providerID?.startsWith(INTENDED) ?? false;
}
