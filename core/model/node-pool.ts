import type { Condition, KubernetesObject, ResourceList } from "./kubernetes.ts";
import type { Taint } from "./taint.ts";

export type RequirementOperator = "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" | "Gte" | "Lte";

/** A requirement as manifests write it; requirements/requirement.ts computes with it. */
export interface NodeSelectorRequirementWithMinValues {
  readonly key: string;
  readonly operator: RequirementOperator;
  readonly values?: readonly string[];
  readonly minValues?: number;
}

export interface NodeClassReference {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
}

export interface NodeClaimTemplateSpec {
  readonly requirements: readonly NodeSelectorRequirementWithMinValues[];
  readonly taints?: readonly Taint[];
  readonly startupTaints?: readonly Taint[];
  readonly nodeClassRef: NodeClassReference;
  /** A Go duration ("720h") or "Never", kept as written. */
  readonly expireAfter?: string;
  readonly terminationGracePeriod?: string;
}

export interface Budget {
  readonly nodes: string;
  readonly schedule?: string;
  readonly duration?: string;
  readonly reasons?: readonly ("Underutilized" | "Empty" | "Drifted" | "Unhealthy")[];
}

export interface Disruption {
  /** A Go duration or "Never"; 0s when absent. */
  readonly consolidateAfter?: string;
  readonly consolidationPolicy?: "WhenEmpty" | "WhenEmptyOrUnderutilized" | "Balanced";
  readonly budgets?: readonly Budget[];
}

export interface NodePoolSpec {
  readonly template: {
    readonly metadata?: { readonly labels?: Readonly<Record<string, string>>; readonly annotations?: Readonly<Record<string, string>> };
    readonly spec: NodeClaimTemplateSpec;
  };
  readonly disruption?: Disruption;
  readonly limits?: ResourceList;
  readonly weight?: number;
  readonly replicas?: number;
}

export interface NodePoolStatus {
  readonly resources?: ResourceList;
  readonly nodes?: number;
  readonly nodeClassObservedGeneration?: number;
  readonly conditions?: readonly Condition[];
}

/** karpenter.sh/v1 NodePool. */
export interface NodePool extends KubernetesObject {
  readonly spec: NodePoolSpec;
  readonly status?: NodePoolStatus;
}
