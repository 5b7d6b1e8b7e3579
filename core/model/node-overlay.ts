import type { Condition, KubernetesObject, ResourceList } from "./kubernetes.ts";
import type { NodeSelectorRequirementWithMinValues } from "./node-pool.ts";

export interface NodeOverlaySpec {
  /** Selects the offerings: labels of the NodePool, the instance type and the offering. minValues is not allowed. */
  readonly requirements: readonly Omit<NodeSelectorRequirementWithMinValues, "minValues">[];
  /** USD per hour that replaces the offering's price, as text: "0.12". */
  readonly price?: string;
  /** Signed change in USD per hour or percent: "+1.2", "-0.5", "+10%", "-15%". Excludes `price`. */
  readonly priceAdjustment?: string;
  /** Extended resources that nodes of the type have in addition to their own. */
  readonly capacity?: ResourceList;
  /** 1 to 10,000; 0 when absent. The overlay with the greater weight wins. */
  readonly weight?: number;
}

/**
 * karpenter.sh/v1alpha1 NodeOverlay: changes the prices and adds to the capacity that the cloud reports for instance
 * types.
 */
export interface NodeOverlay extends KubernetesObject {
  readonly spec: NodeOverlaySpec;
  readonly status?: { readonly conditions?: readonly Condition[] };
}
