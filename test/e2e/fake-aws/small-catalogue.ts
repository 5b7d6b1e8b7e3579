import type { _InstanceType, ArchitectureType, InstanceTypeInfo } from "@aws-sdk/client-ec2";
import type { FakeCatalogue } from "./catalogue.ts";

type Row = {
  readonly name: string;
  readonly vcpu: number;
  readonly memoryMib: number;
  readonly interfaces: number;
  readonly addresses: number;
  readonly ghz: number;
  /** Baseline EBS and maximum EBS bandwidth, Mbit/s. */
  readonly ebs: readonly [number, number];
  readonly gbps: number;
  readonly price: number;
  /** Spot USD per hour in us-west-2a, b, c and d; a zone without a price does not offer the type. */
  readonly spot: readonly number[];
  readonly arch?: ArchitectureType;
  readonly current?: boolean;
  readonly burstable?: boolean;
  readonly gpu?: string;
};

const ZONES = [
  { name: "us-west-2a", zoneId: "usw2-az2" },
  { name: "us-west-2b", zoneId: "usw2-az1" },
  { name: "us-west-2c", zoneId: "usw2-az3" },
  { name: "us-west-2d", zoneId: "usw2-az4" },
];

// biome-ignore format: aligned columns are easier to read
const ROWS: readonly Row[] = [
  { name: "c5.large", vcpu: 2, memoryMib: 4096, interfaces: 3, addresses: 10, ghz: 3.4, ebs: [650, 4750], gbps: 0.75, price: 0.085, spot: [0.054281, 0.039516, 0.050141, 0.055794] },
  { name: "m5.large", vcpu: 2, memoryMib: 8192, interfaces: 3, addresses: 10, ghz: 3.1, ebs: [650, 4750], gbps: 0.75, price: 0.096, spot: [0.051542, 0.062198, 0.052732, 0.044832] },
  { name: "r5.large", vcpu: 2, memoryMib: 16384, interfaces: 3, addresses: 10, ghz: 3.1, ebs: [650, 4750], gbps: 0.75, price: 0.126, spot: [0.083916, 0.035557, 0.07788, 0.066288] },
  { name: "m5.xlarge", vcpu: 4, memoryMib: 16384, interfaces: 4, addresses: 15, ghz: 3.1, ebs: [1150, 4750], gbps: 1.25, price: 0.192, spot: [0.103084, 0.124396, 0.105465, 0.089664] },
  { name: "c6g.large", vcpu: 2, memoryMib: 4096, interfaces: 3, addresses: 10, ghz: 2.5, ebs: [630, 4750], gbps: 0.75, price: 0.068, spot: [0.027506, 0.018462, 0.041099, 0.043506], arch: "arm64", current: true },
  { name: "m6g.large", vcpu: 2, memoryMib: 8192, interfaces: 3, addresses: 10, ghz: 2.5, ebs: [630, 4750], gbps: 0.75, price: 0.077, spot: [0.027827, 0.052775, 0.019796, 0.039085], arch: "arm64", current: true },
  { name: "t3.medium", vcpu: 2, memoryMib: 4096, interfaces: 3, addresses: 6, ghz: 2.5, ebs: [347, 2085], gbps: 0.256, price: 0.0416, spot: [0.028346, 0.016261, 0.017039, 0.023508], current: true, burstable: true },
  { name: "g4dn.xlarge", vcpu: 4, memoryMib: 16384, interfaces: 3, addresses: 10, ghz: 2.5, ebs: [950, 3500], gbps: 5, price: 0.526, spot: [0.173737, 0.266103, 0.273572], current: true, gpu: "T4" },
  { name: "m5.metal", vcpu: 96, memoryMib: 393216, interfaces: 15, addresses: 50, ghz: 3.1, ebs: [19000, 19000], gbps: 25, price: 4.608, spot: [2.474035, 2.985523, 2.531174, 2.151936] },
];

function record(row: Row): InstanceTypeInfo {
  const arm = row.arch === "arm64";
  const threads = arm ? 1 : 2;
  const metal = row.name.endsWith(".metal");
  return {
    InstanceType: row.name as _InstanceType,
    CurrentGeneration: row.current ?? false,
    FreeTierEligible: false,
    SupportedUsageClasses: ["on-demand", "spot"],
    SupportedRootDeviceTypes: ["ebs"],
    SupportedVirtualizationTypes: ["hvm"],
    BareMetal: metal,
    ...(metal ? {} : { Hypervisor: "nitro" }),
    ProcessorInfo: {
      SupportedArchitectures: [row.arch ?? "x86_64"],
      SustainedClockSpeedInGhz: row.ghz,
      Manufacturer: arm ? "AWS" : "Intel",
    },
    VCpuInfo: { DefaultVCpus: row.vcpu, DefaultCores: row.vcpu / threads, DefaultThreadsPerCore: threads },
    MemoryInfo: { SizeInMiB: row.memoryMib },
    InstanceStorageSupported: row.gpu !== undefined,
    ...(row.gpu === undefined
      ? {}
      : {
          InstanceStorageInfo: { TotalSizeInGB: 125, Disks: [{ SizeInGB: 125, Count: 1, Type: "ssd" }], NvmeSupport: "required" },
          GpuInfo: {
            Gpus: [{ Name: row.gpu, Manufacturer: "NVIDIA", Count: 1, MemoryInfo: { SizeInMiB: 16384 } }],
            TotalGpuMemoryInMiB: 16384,
          },
        }),
    EbsInfo: {
      EbsOptimizedSupport: "default",
      EncryptionSupport: "supported",
      EbsOptimizedInfo: { BaselineBandwidthInMbps: row.ebs[0], MaximumBandwidthInMbps: row.ebs[1] },
      NvmeSupport: "required",
      MaximumEbsAttachments: 27,
      AttachmentLimitType: "shared",
    },
    NetworkInfo: {
      MaximumNetworkInterfaces: row.interfaces,
      MaximumNetworkCards: 1,
      DefaultNetworkCardIndex: 0,
      NetworkCards: [{ NetworkCardIndex: 0, MaximumNetworkInterfaces: row.interfaces, BaselineBandwidthInGbps: row.gbps }],
      Ipv4AddressesPerInterface: row.addresses,
      Ipv6AddressesPerInterface: row.addresses,
      Ipv6Supported: true,
      EnaSupport: "required",
      EfaSupported: false,
      EncryptionInTransitSupported: false,
    },
    PlacementGroupInfo: { SupportedStrategies: ["cluster", "partition", "spread"] },
    BurstablePerformanceSupported: row.burstable ?? false,
    DedicatedHostsSupported: !row.burstable,
  };
}

const zonesOf = (row: Row): readonly string[] => ZONES.slice(0, row.spot.length).map(({ name }) => name);

/** Nine types of us-west-2 with their real sizes: enough for tests, and few enough to reason about. */
export const smallCatalogue: FakeCatalogue = {
  region: "us-west-2",
  zones: ZONES,
  offerings: Object.fromEntries(ROWS.map((row) => [row.name, zonesOf(row)])),
  instanceTypes: ROWS.map(record),
  onDemandPrices: Object.fromEntries(ROWS.map(({ name, price }) => [name, price])),
  spotPrices: Object.fromEntries(
    ROWS.map((row) => [row.name, Object.fromEntries(zonesOf(row).map((zone, i) => [zone, row.spot[i] ?? 0]))]),
  ),
};
