/** The kinds that have two versions, and the annotations that keep what one of them cannot hold. Upstream's names, so that its objects are read. */

export const KARPENTER = "karpenter.sh";
export const AWS = "karpenter.k8s.aws";
export const NODE_CLASS_KIND = "EC2NodeClass";

export const GROUP_OF: Readonly<Record<string, string>> = { NodePool: KARPENTER, NodeClaim: KARPENTER, [NODE_CLASS_KIND]: AWS };

/** v1beta1's kubelet block as JSON, on NodePools and NodeClaims of v1. */
export const KUBELET_ANNOTATION = "compatibility.karpenter.sh/v1beta1-kubelet-conversion";
/** v1beta1's nodeClassRef as JSON, on NodePools and NodeClaims of v1, when it was written otherwise than v1's implies. */
export const NODE_CLASS_REF_ANNOTATION = "compatibility.karpenter.sh/v1beta1-nodeclass-reference";
/** The version of the image alias, on EC2NodeClasses of v1beta1; absent means the latest. */
export const ALIAS_VERSION_ANNOTATION = "compatibility.karpenter.k8s.aws/v1-alias-version";
/** What was changed to make Ubuntu into AL2, on EC2NodeClasses of v1: amiFamily[,blockDeviceMappings][,incompatible]. */
export const UBUNTU_ANNOTATION = "compatibility.karpenter.k8s.aws/v1beta1-ubuntu";
/** Our own: all else that the other version cannot hold, as a list of differences (residue.ts). */
export const RESIDUE_ANNOTATION = "karpenter-serverless/conversion";
