import { NODE_CLASS, NODE_POOL } from "./labels.ts";
import type { EC2NodeClass } from "./node-class.ts";

export const CLUSTER_TAG = "eks:eks-cluster-name";
export const NAME_TAG = "Name";
export const NODE_CLAIM_TAG = "karpenter.sh/nodeclaim";
export const CLAIM_UID_TAG = "karpenter-serverless/claim-uid";
/** Of an instance that was launched together with others: the id of their group (launch-group.ts). */
export const LAUNCH_GROUP_TAG = "karpenter-serverless/launch-group";

/**
 * Tags that identify the owner of a resource. They override the user's tags; every launch carries them, so that IAM
 * policies can require them (karpenter-provider-aws: pkg/utils/utils.go, GetTags).
 */
export function ownershipTags(clusterName: string, nodeClass: EC2NodeClass, nodePool: string): Readonly<Record<string, string>> {
  return {
    ...nodeClass.spec.tags,
    [`kubernetes.io/cluster/${clusterName}`]: "owned",
    [CLUSTER_TAG]: clusterName,
    [NODE_POOL]: nodePool,
    [NODE_CLASS]: nodeClass.metadata.name,
  };
}

/**
 * Tag keys that a NodeClass may not set, because the product sets them
 * (karpenter-provider-aws: pkg/apis/v1/labels.go, RestrictedTagPatterns).
 */
export function restrictedTags(tags: Readonly<Record<string, string>> | undefined): readonly string[] {
  const fixed = new Set([CLUSTER_TAG, NODE_POOL, NODE_CLAIM_TAG, NODE_CLASS, CLAIM_UID_TAG, LAUNCH_GROUP_TAG]);
  return Object.keys(tags ?? {}).filter((key) => key === "" || fixed.has(key) || key.startsWith("kubernetes.io/cluster"));
}
