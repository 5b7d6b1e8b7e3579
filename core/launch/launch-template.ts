import { contentHash } from "../lib/fnv.ts";
import type { LaunchTemplate } from "../model/fleet.ts";
import type { CapacityType } from "../model/instance-type.ts";
import type { BlockDeviceMapping, EC2NodeClass } from "../model/node-class.ts";
import { parseQuantity } from "../model/quantity.ts";
import { amiFamilyOf, FAMILIES } from "../node-class/family.ts";
import { DEFAULT_METADATA_OPTIONS } from "../node-class/hash.ts";
import { networkInterfacesOf } from "./network-interfaces.ts";

/** What differs between the templates of one NodeClass. */
export interface InstanceSpec {
  readonly imageId: string;
  readonly userData: string;
  readonly capacityType: CapacityType;
  /** EFA interfaces that pods request. */
  readonly efaInterfaces: number;
  readonly ipv6: boolean;
  /** The partition that the NodeClaim requires. */
  readonly partition?: number;
  readonly dedicated: boolean;
  readonly reservation?: LaunchTemplate["reservation"];
}

const GIB_MILLI = 2 ** 30 * 1000;

/**
 * The launch template of a NodeClass for one image. Its name is `karpenter.k8s.aws/` and the FNV-1a/64 of its content,
 * so that equal contents share one template. The content must hold nothing of a single NodeClaim
 * (karpenter-provider-aws: pkg/providers/launchtemplate/launchtemplate.go, LaunchTemplateName).
 */
export function launchTemplate(nodeClass: EC2NodeClass, instance: InstanceSpec, tags: Readonly<Record<string, string>>): LaunchTemplate {
  const { spec, status } = nodeClass;
  const mappings = spec.blockDeviceMappings ?? FAMILIES[amiFamilyOf(spec)].defaultDevices;
  const networkInterfaces = networkInterfacesOf(spec, instance.efaInterfaces);
  const content: Omit<LaunchTemplate, "name"> = {
    imageId: instance.imageId,
    userData: instance.userData,
    instanceProfile: spec.instanceProfile ?? status?.instanceProfile ?? "",
    securityGroupIds: (status?.securityGroups ?? []).map(({ id }) => id),
    blockDeviceMappings: mappings.map(blockDevice),
    metadataOptions: { ...DEFAULT_METADATA_OPTIONS, ...spec.metadataOptions },
    detailedMonitoring: spec.detailedMonitoring ?? false,
    ...(spec.associatePublicIPAddress !== undefined && { associatePublicIPAddress: spec.associatePublicIPAddress }),
    tags,
    capacityType: instance.capacityType,
    ...(networkInterfaces && { networkInterfaces }),
    ...(spec.ipPrefixCount !== undefined && { ipPrefixCount: spec.ipPrefixCount }),
    ...(instance.ipv6 && { ipv6: true as const }),
    ...(spec.connectionTracking && { connectionTracking: spec.connectionTracking }),
    ...(spec.cpuOptions?.nestedVirtualization && { nestedVirtualization: spec.cpuOptions.nestedVirtualization }),
    ...(spec.enclaveOptions?.enabled && { enclaves: true as const }),
    ...(status?.placementGroup && {
      placement: { groupId: status.placementGroup.id, ...(instance.partition !== undefined && { partition: instance.partition }) },
    }),
    ...(instance.dedicated && { tenancy: "dedicated" as const }),
    ...(instance.reservation && { reservation: instance.reservation }),
  };
  return { name: `karpenter.k8s.aws/${contentHash(content)}`, ...content };
}

function blockDevice({ deviceName, ebs = {} }: BlockDeviceMapping): LaunchTemplate["blockDeviceMappings"][number] {
  const { kmsKeyID, snapshotID, volumeSize, ...same } = ebs;
  return {
    ...(deviceName !== undefined && { deviceName }),
    ebs: {
      ...same,
      ...(kmsKeyID !== undefined && { kmsKeyId: kmsKeyID }),
      ...(snapshotID !== undefined && { snapshotId: snapshotID }),
      ...(volumeSize !== undefined && { volumeSize: Math.ceil(parseQuantity(volumeSize) / GIB_MILLI) }),
    },
  };
}
