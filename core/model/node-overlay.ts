import type { Condition, KubernetesObject, ResourceList } from "./kubernetes.ts";
import type { NodeSelectorRequirementWithMinValues } from "./node-pool.ts";

export interface NodeOverlaySpec {
  /** Which offerings it is about: labels of the NodePool, the instance type and the offering. Without minValues. */
  readonly requirements: readonly Omit<NodeSelectorRequirementWithMinValues, "minValues">[];
  /** USD per hour in place of the offering's price, as text: "0.12". */
  readonly price?: string;
  /** Signed, in USD per hour or percent: "+1.2", "-0.5", "+10%", "-15%". Not beside `price`. */
  readonly priceAdjustment?: string;
  /** Extended resources that nodes of the type will have beside their own. */
  readonly capacity?: ResourceList;
  /** 1 to 10,000; 0 when absent. The heavier one wins. */
  readonly weight?: number;
}

/** karpenter.sh/v1alpha1 NodeOverlay: what instance types cost, and have, beyond what the cloud says. */
export interface NodeOverlay extends KubernetesObject {
  readonly spec: NodeOverlaySpec;
  readonly status?: { readonly conditions?: readonly Condition[] };
}
