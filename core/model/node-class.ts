import type { Condition, KubernetesObject, ResourceList } from "./kubernetes.ts";
import type { NodeSelectorRequirementWithMinValues } from "./node-pool.ts";

export type AmiFamily = "AL2" | "AL2023" | "Bottlerocket" | "Custom" | "Windows2019" | "Windows2022" | "Windows2025";

export interface SubnetSelectorTerm {
  readonly tags?: Readonly<Record<string, string>>;
  readonly id?: string;
}

export interface SecurityGroupSelectorTerm extends SubnetSelectorTerm {
  readonly name?: string;
}

export interface AmiSelectorTerm extends SubnetSelectorTerm {
  readonly name?: string;
  readonly owner?: string;
  readonly alias?: string;
  readonly ssmParameter?: string;
}

export interface BlockDevice {
  readonly deleteOnTermination?: boolean;
  readonly encrypted?: boolean;
  readonly iops?: number;
  readonly kmsKeyID?: string;
  readonly snapshotID?: string;
  readonly throughput?: number;
  readonly volumeInitializationRate?: number;
  readonly volumeSize?: string;
  readonly volumeType?: string;
}

export interface BlockDeviceMapping {
  readonly deviceName?: string;
  readonly rootVolume?: boolean;
  readonly ebs?: BlockDevice;
}

export interface KubeletConfiguration {
  readonly clusterDNS?: readonly string[];
  readonly maxPods?: number;
  readonly podsPerCore?: number;
  readonly systemReserved?: ResourceList;
  readonly kubeReserved?: ResourceList;
  readonly evictionHard?: Readonly<Record<string, string>>;
  readonly evictionSoft?: Readonly<Record<string, string>>;
  readonly evictionSoftGracePeriod?: Readonly<Record<string, string>>;
  readonly evictionMaxPodGracePeriod?: number;
  readonly imageGCHighThresholdPercent?: number;
  readonly imageGCLowThresholdPercent?: number;
  readonly cpuCFSQuota?: boolean;
}

export interface MetadataOptions {
  readonly httpEndpoint?: "enabled" | "disabled";
  readonly httpProtocolIPv6?: "enabled" | "disabled";
  readonly httpPutResponseHopLimit?: number;
  readonly httpTokens?: "required" | "optional";
}

export interface EC2NodeClassSpec {
  readonly subnetSelectorTerms: readonly SubnetSelectorTerm[];
  readonly securityGroupSelectorTerms: readonly SecurityGroupSelectorTerm[];
  readonly amiSelectorTerms: readonly AmiSelectorTerm[];
  readonly amiFamily?: AmiFamily;
  readonly userData?: string;
  readonly role?: string;
  readonly instanceProfile?: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly kubelet?: KubeletConfiguration;
  readonly blockDeviceMappings?: readonly BlockDeviceMapping[];
  readonly instanceStorePolicy?: "RAID0";
  readonly detailedMonitoring?: boolean;
  readonly metadataOptions?: MetadataOptions;
  readonly associatePublicIPAddress?: boolean;
  readonly context?: string;
}

export interface ResolvedSubnet {
  readonly id: string;
  readonly zone: string;
  readonly zoneID?: string;
}

export interface ResolvedAmi {
  readonly id: string;
  readonly name?: string;
  readonly deprecated?: boolean;
  readonly requirements: readonly NodeSelectorRequirementWithMinValues[];
}

export interface EC2NodeClassStatus {
  readonly subnets?: readonly ResolvedSubnet[];
  readonly securityGroups?: readonly { readonly id: string; readonly name?: string }[];
  readonly amis?: readonly ResolvedAmi[];
  readonly instanceProfile?: string;
  readonly conditions?: readonly Condition[];
}

/** karpenter.k8s.aws/v1 EC2NodeClass. */
export interface EC2NodeClass extends KubernetesObject {
  readonly spec: EC2NodeClassSpec;
  readonly status?: EC2NodeClassStatus;
}
