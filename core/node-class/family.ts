import { ownValue } from "../lib/own-value.ts";
import type { AmiFamily, BlockDeviceMapping, EC2NodeClassSpec } from "../model/node-class.ts";

/**
 * The properties of an AMI family that follow from its operating system
 * (karpenter-provider-aws: pkg/providers/amifamily/resolver.go, GetAMIFamily).
 */
export interface Family {
  readonly os: "linux" | "windows";
  /** Value of node.kubernetes.io/windows-build. */
  readonly windowsBuild?: string;
  /** The device whose size is the pods' ephemeral storage. */
  readonly podDevice?: string;
  readonly defaultDevices: readonly BlockDeviceMapping[];
  /** Whether the addresses of the network interfaces limit the number of pods. */
  readonly eniLimitedPods: boolean;
  readonly honoursPodsPerCore: boolean;
  /** Whether kubeReserved memory counts the pods that the interfaces allow, whatever maxPods says. */
  readonly eniLimitedMemoryOverhead: boolean;
}

function volume(deviceName: string, volumeSize: string): BlockDeviceMapping {
  return { deviceName, ebs: { encrypted: true, volumeType: "gp3", volumeSize } };
}

const AMAZON_LINUX: Family = {
  os: "linux",
  podDevice: "/dev/xvda",
  defaultDevices: [volume("/dev/xvda", "20Gi")],
  eniLimitedPods: true,
  honoursPodsPerCore: true,
  eniLimitedMemoryOverhead: true,
};

function windows(windowsBuild: string): Family {
  return {
    os: "windows",
    windowsBuild,
    podDevice: "/dev/sda1",
    defaultDevices: [volume("/dev/sda1", "50Gi")],
    eniLimitedPods: false,
    honoursPodsPerCore: true,
    eniLimitedMemoryOverhead: false,
  };
}

/** Devices and defaults of each AMI family. */
export const FAMILIES: Readonly<Record<AmiFamily, Family>> = {
  AL2: AMAZON_LINUX,
  AL2023: AMAZON_LINUX,
  Bottlerocket: {
    os: "linux",
    podDevice: "/dev/xvdb",
    // EC2 refuses a volume that is smaller than its image's snapshot; Karpenter 1.14 asks for 4Gi, 1.15 for 6Gi.
    defaultDevices: [volume("/dev/xvda", "6Gi"), volume("/dev/xvdb", "20Gi")],
    eniLimitedPods: true,
    honoursPodsPerCore: false,
    eniLimitedMemoryOverhead: false,
  },
  Custom: {
    os: "linux",
    defaultDevices: [],
    eniLimitedPods: true,
    honoursPodsPerCore: true,
    eniLimitedMemoryOverhead: true,
  },
  Windows2019: windows("10.0.17763"),
  Windows2022: windows("10.0.20348"),
  Windows2025: windows("10.0.26100"),
};

const FAMILY_BY_ALIAS: Readonly<Record<string, AmiFamily>> = {
  al2: "AL2",
  al2023: "AL2023",
  bottlerocket: "Bottlerocket",
  windows2019: "Windows2019",
  windows2022: "Windows2022",
  windows2025: "Windows2025",
};

export interface Alias {
  /** "al2023": the part before the "@". */
  readonly name: string;
  /** "latest" or a version: the part after the "@". */
  readonly version: string;
  readonly family: AmiFamily;
}

/** The alias of the AMI selector terms; undefined when no term has an alias or its family is unknown. */
export function aliasOf(spec: Pick<EC2NodeClassSpec, "amiSelectorTerms">): Alias | undefined {
  const written = spec.amiSelectorTerms.find((term) => term.alias !== undefined)?.alias;
  const at = written?.indexOf("@") ?? -1;
  if (written === undefined || at < 0) return undefined;
  const name = written.slice(0, at);
  const family = ownValue(FAMILY_BY_ALIAS, name);
  return family && { name, version: written.slice(at + 1), family };
}

/**
 * amiFamily of the spec, else the alias's family. Admission requires one of them; without both, Custom assumes nothing.
 */
export function amiFamilyOf(spec: Pick<EC2NodeClassSpec, "amiFamily" | "amiSelectorTerms">): AmiFamily {
  return spec.amiFamily ?? aliasOf(spec)?.family ?? "Custom";
}
