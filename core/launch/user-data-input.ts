import type { AmiFamily, KubeletConfiguration } from "../model/node-class.ts";
import type { Taint } from "../model/taint.ts";

/** What a new node must know about its cluster. */
export interface ClusterFacts {
  readonly name: string;
  /** ARN of the EKS cluster; absent on other clusters. */
  readonly arn?: string;
  readonly endpoint: string;
  /** Base64 PEM. */
  readonly caBundle: string;
  /** Service network, "10.100.0.0/16"; AL2023 does not boot without it. */
  readonly serviceCidr?: string;
  /** ClusterIP of kube-dns, where the node image needs it. */
  readonly clusterDns?: string;
}

export interface UserDataInput {
  readonly family: AmiFamily;
  readonly cluster: ClusterFacts;
  /** Labels of the NodeClaim. */
  readonly labels: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
  readonly startupTaints?: readonly Taint[];
  readonly kubelet?: KubeletConfiguration;
  readonly maxPods?: number;
  readonly capacityType: string;
  /** The user's own user data, from the NodeClass. */
  readonly userData?: string;
  readonly instanceStorePolicy?: "RAID0";
  /** Bottlerocket's version, "1.46.0"; an unknown version counts as old. */
  readonly imageVersion?: string;
}
