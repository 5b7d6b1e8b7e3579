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

export interface CapacityReservationSelectorTerm extends SubnetSelectorTerm {
  readonly ownerID?: string;
  readonly instanceMatchCriteria?: "open" | "targeted";
}

export interface PlacementGroupSelector {
  readonly name?: string;
  readonly id?: string;
}

/** One network interface of each instance; each pair of card and device occurs once. */
export interface NetworkInterface {
  readonly networkCardIndex: number;
  readonly deviceIndex: number;
  /** `efa-only` carries no IP traffic. */
  readonly interfaceType: "interface" | "efa-only";
}

/** How long idle connections are tracked, in seconds. */
export interface ConnectionTracking {
  readonly tcpEstablishedTimeout?: number;
  readonly udpStreamTimeout?: number;
  readonly udpTimeout?: number;
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

/** Any field of the kubelet's KubeletConfiguration; those that plans depend on have types. */
export interface KubeletConfiguration {
  readonly [field: string]: unknown;
  readonly clusterDNS?: readonly string[];
  /** A text is an expression of the instance type, as an amount of kubeReserved and systemReserved may be. */
  readonly maxPods?: number | string;
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
  readonly capacityReservationSelectorTerms?: readonly CapacityReservationSelectorTerm[];
  readonly placementGroupSelector?: PlacementGroupSelector;
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
  readonly networkInterfaces?: readonly NetworkInterface[];
  readonly connectionTracking?: ConnectionTracking;
  /** IP prefixes that EC2 assigns to the primary interface at launch. */
  readonly ipPrefixCount?: number;
  readonly cpuOptions?: { readonly nestedVirtualization?: "enabled" | "disabled" };
  /** Whether instances can start Nitro Enclaves. */
  readonly enclaveOptions?: { readonly enabled: boolean };
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

export interface ResolvedReservation {
  readonly id: string;
  readonly availabilityZone: string;
  readonly instanceType: string;
  readonly instanceMatchCriteria: "open" | "targeted";
  readonly ownerID: string;
  readonly reservationType: "default" | "capacity-block";
  readonly interruptible: boolean;
  /** `expiring`: a capacity block whose instances EC2 terminates soon; nothing is launched into it. */
  readonly state: "active" | "expiring";
  /** RFC 3339. */
  readonly endTime?: string;
  /**
   * Instances that are free or used by this cluster. Unlike EC2's count, our own launches do not change it. A field of
   * ours, not Karpenter's.
   */
  readonly usableInstanceCount?: number;
}

export interface ResolvedPlacementGroup {
  readonly id: string;
  readonly name?: string;
  readonly strategy: "cluster" | "partition" | "spread";
  /** For strategy `partition`. */
  readonly partitionCount?: number;
}

export interface EC2NodeClassStatus {
  readonly subnets?: readonly ResolvedSubnet[];
  readonly securityGroups?: readonly { readonly id: string; readonly name?: string }[];
  readonly amis?: readonly ResolvedAmi[];
  readonly capacityReservations?: readonly ResolvedReservation[];
  /** A field of ours: Karpenter keeps the placement group in memory. */
  readonly placementGroup?: ResolvedPlacementGroup;
  readonly instanceProfile?: string;
  readonly conditions?: readonly Condition[];
}

/** karpenter.k8s.aws/v1 EC2NodeClass. */
export interface EC2NodeClass extends KubernetesObject {
  readonly spec: EC2NodeClassSpec;
  readonly status?: EC2NodeClassStatus;
}
