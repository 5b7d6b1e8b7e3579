/**
 * The kinds with two versions, and the annotations that keep what one of the versions cannot express. The names are
 * upstream's, so that objects that Karpenter converted are understood.
 */

export const KARPENTER = "karpenter.sh";
export const AWS = "karpenter.k8s.aws";
export const NODE_CLASS_KIND = "EC2NodeClass";

export const GROUP_OF: Readonly<Record<string, string>> = { NodePool: KARPENTER, NodeClaim: KARPENTER, [NODE_CLASS_KIND]: AWS };

/** The v1beta1 kubelet block as JSON, on v1 NodePools and NodeClaims. */
export const KUBELET_ANNOTATION = "compatibility.karpenter.sh/v1beta1-kubelet-conversion";
/** The v1beta1 nodeClassRef as JSON, on v1 NodePools and NodeClaims, when it does not follow from the v1 form. */
export const NODE_CLASS_REF_ANNOTATION = "compatibility.karpenter.sh/v1beta1-nodeclass-reference";
/** The version of the image alias, on v1beta1 EC2NodeClasses; absent means the latest. */
export const ALIAS_VERSION_ANNOTATION = "compatibility.karpenter.k8s.aws/v1-alias-version";
/** What was changed to turn Ubuntu into AL2, on v1 EC2NodeClasses: amiFamily[,blockDeviceMappings][,incompatible]. */
export const UBUNTU_ANNOTATION = "compatibility.karpenter.k8s.aws/v1beta1-ubuntu";
/** Our own: all else that the other version cannot express, as a list of differences (residue.ts). */
export const RESIDUE_ANNOTATION = "karpenter-serverless/conversion";
