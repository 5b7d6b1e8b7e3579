import type { AmiFamily, BlockDeviceMapping, EC2NodeClassSpec } from "../model/node-class.ts";

/** What follows from an image's operating system (ec2nodeclass.md §6, instance-types.md §4–5). */
export interface Family {
  readonly os: "linux" | "windows";
  /** Value of node.kubernetes.io/windows-build. */
  readonly windowsBuild?: string;
  /** Device whose size is the pods' ephemeral storage. */
  readonly podDevice?: string;
  readonly defaultDevices: readonly BlockDeviceMapping[];
  /** Pods are limited by the addresses of the network interfaces. */
  readonly eniLimitedPods: boolean;
  readonly honoursPodsPerCore: boolean;
  /** kubeReserved memory counts the pods that the interfaces allow, whatever maxPods says. */
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

/** How each family of images boots: disks, user data and defaults. */
export const FAMILIES: Readonly<Record<AmiFamily, Family>> = {
  AL2: AMAZON_LINUX,
  AL2023: AMAZON_LINUX,
  Bottlerocket: {
    os: "linux",
    podDevice: "/dev/xvdb",
    defaultDevices: [volume("/dev/xvda", "4Gi"), volume("/dev/xvdb", "20Gi")],
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
  /** "al2023", as written before the "@". */
  readonly name: string;
  /** What follows the "@": "latest" or a version. */
  readonly version: string;
  readonly family: AmiFamily;
}

/** The alias that the AMI terms name; undefined when none does or its family is unknown. */
export function aliasOf(spec: Pick<EC2NodeClassSpec, "amiSelectorTerms">): Alias | undefined {
  const written = spec.amiSelectorTerms.find((term) => term.alias !== undefined)?.alias;
  const at = written?.indexOf("@") ?? -1;
  if (written === undefined || at < 0) return undefined;
  const name = written.slice(0, at);
  const family = FAMILY_BY_ALIAS[name];
  return family && { name, version: written.slice(at + 1), family };
}

/** The family as written, else that of the alias. Admission makes sure that there is one; without, nothing is assumed: Custom. */
export function amiFamilyOf(spec: Pick<EC2NodeClassSpec, "amiFamily" | "amiSelectorTerms">): AmiFamily {
  return spec.amiFamily ?? aliasOf(spec)?.family ?? "Custom";
}
