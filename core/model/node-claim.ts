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

export interface NodeClaimStatus {
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
