import { ownValue } from "../lib/own-value.ts";
import { type LaunchFacts, launchFacts } from "./launch-facts.ts";

/** A GPU model of an instance type. */
export interface GpuFacts {
  readonly name: string;
  readonly manufacturer: string;
  readonly count: number;
  /** Memory of one GPU. */
  readonly memoryMib: number;
}

/** The facts of an instance type that hold for every account. An absent field is a fact that EC2 does not state. */
export interface CatalogueType extends LaunchFacts {
  readonly name: string;
  readonly arch: "amd64" | "arm64";
  readonly cpu: number;
  /** As EC2 states it, with the hypervisor's overhead. */
  readonly memoryMib: number;
  /** Network interfaces of the default network card. */
  readonly enis: number;
  readonly ipv4PerEni: number;
  readonly capacityTypes: readonly ("on-demand" | "spot")[];
  /** Zones of the region that offer the type. */
  readonly zones: readonly string[];
  readonly cpuManufacturer: string;
  readonly clockMhz: number;
  /** Absent on bare metal. */
  readonly hypervisor?: string;
  readonly encryptionInTransit: boolean;
  /** Size of the instance store, all disks together. */
  readonly storageGb?: number;
  readonly nvme?: boolean;
  readonly ebsMbps?: number;
  /** Baseline bandwidth, from the limits table. */
  readonly networkMbps?: number;
  /** Branch interfaces of the trunk interface, from the limits table. */
  readonly podEni?: number;
  /** IPv4 addresses per interface, from the limits table: the base of the address pool on Windows. */
  readonly tableIpv4PerEni?: number;
  readonly efa?: number;
  /** Set for burstable performance instances. */
  readonly burstable?: true;
  readonly gpus?: readonly GpuFacts[];
  readonly neuron?: readonly { readonly name: string; readonly count: number; readonly cores: number }[];
  readonly inference?: readonly { readonly name: string; readonly manufacturer: string; readonly count: number }[];
}

/** The instance types of a region and their prices. */
export interface Catalogue {
  readonly region: string;
  readonly zones: readonly { readonly name: string; readonly zoneId: string }[];
  readonly types: readonly CatalogueType[];
  /** USD (in China CNY) per hour, Linux, shared tenancy. */
  readonly onDemand: Readonly<Record<string, number>>;
  /** Set when the on-demand prices are those of another region, because those of this region could never be read. */
  readonly standIn?: true;
  /** USD per hour by type and zone. Absent until spot prices were read once; the on-demand price is used instead. */
  readonly spot?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Prices that fell so far that they are used only when they are read again (held-prices.ts). */
  readonly held?: {
    readonly onDemand: Readonly<Record<string, number>>;
    readonly spot: Readonly<Record<string, Readonly<Record<string, number>>>>;
  };
  /** ISO 8601 date of the youngest fact. */
  readonly asOf: string;
  /** Set when the prices are invented: for the lab, never for a launch. */
  readonly synthetic?: boolean;
}

/** Facts that no EC2 call states: branch interfaces, addresses per interface, baseline bandwidth. */
export interface TypeLimits {
  readonly podEni?: number;
  readonly ipv4PerEni?: number;
  readonly networkMbps?: number;
}

/** The fields of a DescribeInstanceTypes record that are read here, with EC2's names. */
interface RawRecord {
  readonly InstanceType?: string;
  readonly ProcessorInfo?: {
    readonly SupportedArchitectures?: readonly string[];
    readonly SustainedClockSpeedInGhz?: number;
    readonly Manufacturer?: string;
  };
  readonly VCpuInfo?: { readonly DefaultVCpus?: number };
  readonly MemoryInfo?: { readonly SizeInMiB?: number };
  readonly NetworkInfo?: {
    readonly DefaultNetworkCardIndex?: number;
    readonly NetworkCards?: readonly { readonly NetworkCardIndex?: number; readonly MaximumNetworkInterfaces?: number }[];
    readonly Ipv4AddressesPerInterface?: number;
    readonly EncryptionInTransitSupported?: boolean;
    readonly EfaInfo?: { readonly MaximumEfaInterfaces?: number };
  };
  readonly SupportedUsageClasses?: readonly string[];
  readonly BurstablePerformanceSupported?: boolean;
  readonly Hypervisor?: string;
  readonly InstanceStorageInfo?: { readonly TotalSizeInGB?: number; readonly NvmeSupport?: string };
  readonly EbsInfo?: {
    readonly EbsOptimizedSupport?: string;
    readonly EbsOptimizedInfo?: { readonly MaximumBandwidthInMbps?: number };
  };
  readonly GpuInfo?: {
    readonly Gpus?: readonly {
      readonly Name?: string;
      readonly Manufacturer?: string;
      readonly Count?: number;
      readonly MemoryInfo?: { readonly SizeInMiB?: number };
    }[];
  };
  readonly NeuronInfo?: {
    readonly NeuronDevices?: readonly {
      readonly Name?: string;
      readonly Count?: number;
      readonly CoreInfo?: { readonly Count?: number };
    }[];
  };
  readonly InferenceAcceleratorInfo?: {
    readonly Accelerators?: readonly { readonly Name?: string; readonly Manufacturer?: string; readonly Count?: number }[];
  };
}

const ARCHITECTURES: Readonly<Record<string, "amd64" | "arm64">> = { x86_64: "amd64", arm64: "arm64" };

/**
 * Reduces a DescribeInstanceTypes record (EC2's field names) to the facts that instance types are computed from, about
 * 20 times smaller. `limits` is the type's row of the static limits table; `zones` are the zones that offer the type.
 * Undefined for a type without a usable architecture (Mac).
 * (karpenter-provider-aws: pkg/providers/instancetype/types.go, NewInstanceType)
 */
export function compactRecord(record: object, limits: TypeLimits | undefined, zones: readonly string[]): CatalogueType | undefined {
  const raw = record as RawRecord;
  const arch = raw.ProcessorInfo?.SupportedArchitectures?.map((a) => ownValue(ARCHITECTURES, a)).find((a) => a !== undefined);
  if (arch === undefined || raw.InstanceType === undefined) return undefined;
  const network = raw.NetworkInfo;
  const card = network?.DefaultNetworkCardIndex ?? 0;
  const storage = raw.InstanceStorageInfo;
  const clockGhz = raw.ProcessorInfo?.SustainedClockSpeedInGhz;
  const ebs = raw.EbsInfo?.EbsOptimizedSupport === "default" ? raw.EbsInfo.EbsOptimizedInfo?.MaximumBandwidthInMbps : undefined;
  const efa = network?.EfaInfo?.MaximumEfaInterfaces;
  return {
    name: raw.InstanceType,
    arch,
    cpu: raw.VCpuInfo?.DefaultVCpus ?? 0,
    memoryMib: raw.MemoryInfo?.SizeInMiB ?? 0,
    enis: network?.NetworkCards?.[card]?.MaximumNetworkInterfaces ?? 0,
    ipv4PerEni: network?.Ipv4AddressesPerInterface ?? 0,
    capacityTypes: (["on-demand", "spot"] as const).filter((c) => raw.SupportedUsageClasses?.includes(c)),
    zones: [...zones].sort(),
    cpuManufacturer: lower(raw.ProcessorInfo?.Manufacturer),
    clockMhz: clockGhz === undefined ? 0 : Math.floor(clockGhz * 1000 + 0.5),
    encryptionInTransit: network?.EncryptionInTransitSupported ?? false,
    ...(raw.Hypervisor && { hypervisor: raw.Hypervisor }),
    ...(storage?.TotalSizeInGB !== undefined && { storageGb: storage.TotalSizeInGB }),
    ...(storage?.NvmeSupport !== undefined && { nvme: storage.NvmeSupport !== "unsupported" }),
    ...(ebs !== undefined && { ebsMbps: ebs }),
    ...(limits?.networkMbps !== undefined && { networkMbps: limits.networkMbps }),
    ...(limits?.podEni && { podEni: limits.podEni }),
    ...(limits?.ipv4PerEni !== undefined && { tableIpv4PerEni: limits.ipv4PerEni }),
    ...(efa && { efa }),
    ...(raw.BurstablePerformanceSupported && { burstable: true as const }),
    ...launchFacts(record),
    ...accelerators(raw),
  };
}

function accelerators(raw: RawRecord): Pick<CatalogueType, "gpus" | "neuron" | "inference"> {
  const gpus = raw.GpuInfo?.Gpus?.map((g) => ({
    name: lower(g.Name),
    manufacturer: g.Manufacturer ?? "",
    count: g.Count ?? 0,
    memoryMib: g.MemoryInfo?.SizeInMiB ?? 0,
  }));
  const neuron = raw.NeuronInfo?.NeuronDevices?.map((d) => ({ name: lower(d.Name), count: d.Count ?? 0, cores: d.CoreInfo?.Count ?? 0 }));
  const inference = raw.InferenceAcceleratorInfo?.Accelerators?.map((a) => ({
    name: lower(a.Name),
    manufacturer: lower(a.Manufacturer),
    count: a.Count ?? 0,
  }));
  return { ...(gpus && { gpus }), ...(neuron && { neuron }), ...(inference && !neuron && { inference }) };
}

/** A label value from EC2's spelling. */
function lower(text: string | undefined): string {
  return (text ?? "").toLowerCase().replaceAll(" ", "-");
}
