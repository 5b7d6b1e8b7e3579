import type { CatalogueType } from "#core/offerings/catalogue.ts";
import { rawLaunchFacts } from "#core/offerings/launch-facts.ts";
import type { InstanceTypeRecord } from "#core/ports/cloud-inventory.ts";
import { toNumber } from "./quantity.ts";
import type { Bootstrap } from "./user-data.ts";

/** Quantities by resource name. */
export interface NodeResources {
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
  /** Extended resources, which device plugins and controllers register after the node is ready. */
  readonly devices: Readonly<Record<string, string>>;
}

const MI = 2 ** 20;
/** The kubelet reports both sizes of huge pages; Amazon's images reserve none. */
const NO_HUGE_PAGES = { "hugepages-1Gi": "0", "hugepages-2Mi": "0" };
/**
 * Share of the memory that hypervisor and firmware keep: the default of Karpenter's setting vm-memory-overhead-percent
 * (karpenter-provider-aws: pkg/operator/options/options.go, Options.AddFlags).
 */
const VM_OVERHEAD = 0.075;

/**
 * The resources that a node of a type reports: the kubelet reservations of Amazon's images, unless the user data set
 * others (karpenter-provider-aws: pkg/providers/instancetype/types.go, kubeReservedResources). It does not use the
 * arithmetic of the core, so that each can be checked against the other. `disk` is the size of the disk that pods write
 * to, in bytes.
 */
export function nodeResources(type: CatalogueType, bootstrap: Bootstrap, disk: number): NodeResources {
  const memory = type.memoryMib - (type.arch === "arm64" ? 64 : 0);
  const memoryMi = memory - Math.ceil(memory * VM_OVERHEAD);
  const maxPods = bootstrap.maxPods ?? 110;
  // The kubelet reserves memory by maxPods, and reports no more pods than podsPerCore allows.
  const pods = bootstrap.podsPerCore ? Math.min(maxPods, bootstrap.podsPerCore * type.cpu) : maxPods;
  const reserved = (name: string, standard: number): number => {
    const kube = toNumber(bootstrap.kubeReserved?.[name]) ?? standard;
    return kube + (toNumber(bootstrap.systemReserved?.[name]) ?? 0);
  };
  const evict = (signal: string, capacity: number, standard: number): number => {
    const value = bootstrap.evictionHard?.[signal];
    if (value === undefined) return standard;
    return value.endsWith("%") ? (capacity * Number.parseFloat(value)) / 100 : (toNumber(value) ?? 0);
  };
  const cpu = type.cpu - reserved("cpu", cpuReserved(type.cpu));
  const free = memoryMi * MI - reserved("memory", (11 * pods + 255) * MI) - evict("memory.available", memoryMi * MI, 100 * MI);
  const storage = disk - reserved("ephemeral-storage", 2 ** 30) - evict("nodefs.available", disk, disk / 10);
  return {
    capacity: {
      cpu: String(type.cpu),
      memory: `${memoryMi * 1024}Ki`,
      "ephemeral-storage": `${Math.floor(disk / 1024)}Ki`,
      pods: String(pods),
      ...NO_HUGE_PAGES,
    },
    allocatable: {
      cpu: `${Math.floor(cpu * 1000 + 1e-6)}m`,
      memory: `${Math.floor(free / 1024)}Ki`,
      "ephemeral-storage": String(Math.floor(storage)),
      pods: String(pods),
      ...NO_HUGE_PAGES,
    },
    devices: devices(type),
  };
}

/**
 * CPU that the kubelet reserves: 6 % of the first core, 1 % of the second, 0.5 % of the next two, 0.25 % of the rest.
 */
function cpuReserved(cores: number): number {
  const share = (from: number, to: number, part: number): number => Math.max(0, Math.min(cores, to) - from) * part;
  return share(0, 1, 0.06) + share(1, 2, 0.01) + share(2, 4, 0.005) + share(4, Number.POSITIVE_INFINITY, 0.0025);
}

function devices(type: CatalogueType): Record<string, string> {
  const found: Record<string, string> = {};
  const put = (name: string, count: number): void => {
    if (count > 0) found[name] = String(count);
  };
  for (const { manufacturer, count } of type.gpus ?? []) {
    const vendor: Readonly<Record<string, string>> = { NVIDIA: "nvidia.com/gpu", AMD: "amd.com/gpu", Habana: "habana.ai/gaudi" };
    const name = vendor[manufacturer];
    if (name !== undefined) put(name, count);
  }
  put(
    "aws.amazon.com/neuron",
    (type.neuron ?? []).reduce((sum, n) => sum + n.count, 0),
  );
  put(
    "aws.amazon.com/neuroncore",
    (type.neuron ?? []).reduce((sum, n) => sum + n.count * n.cores, 0),
  );
  put("vpc.amazonaws.com/efa", type.efa ?? 0);
  put("vpc.amazonaws.com/pod-eni", type.podEni ?? 0);
  return found;
}

/** The type as DescribeInstanceTypes returns it: the inverse of what the catalogue reads. */
export function toRecord(type: CatalogueType): InstanceTypeRecord {
  const facts = rawLaunchFacts(type, type.enis);
  return {
    InstanceType: type.name,
    ProcessorInfo: {
      SupportedArchitectures: [type.arch === "amd64" ? "x86_64" : "arm64"],
      Manufacturer: type.cpuManufacturer,
      SupportedFeatures: facts.SupportedFeatures,
      ...(type.clockMhz > 0 && { SustainedClockSpeedInGhz: type.clockMhz / 1000 }),
    },
    VCpuInfo: { DefaultVCpus: type.cpu },
    MemoryInfo: { SizeInMiB: type.memoryMib },
    NetworkInfo: {
      DefaultNetworkCardIndex: 0,
      NetworkCards: facts.NetworkCards,
      EnaSupport: facts.EnaSupport,
      Ipv4AddressesPerInterface: type.ipv4PerEni,
      EncryptionInTransitSupported: type.encryptionInTransit,
      ...(type.efa !== undefined && { EfaInfo: { MaximumEfaInterfaces: type.efa } }),
    },
    SupportedUsageClasses: type.capacityTypes,
    PlacementGroupInfo: { SupportedStrategies: facts.SupportedStrategies },
    BareMetal: type.hypervisor === undefined,
    ...(type.hypervisor !== undefined && { Hypervisor: type.hypervisor }),
    ...(type.storageGb !== undefined && {
      InstanceStorageInfo: {
        TotalSizeInGB: type.storageGb,
        ...(type.nvme !== undefined && { NvmeSupport: type.nvme ? "required" : "unsupported" }),
      },
    }),
    NitroEnclavesSupport: facts.NitroEnclavesSupport,
    EbsInfo: {
      ...facts.EbsInfo,
      ...(type.ebsMbps === undefined
        ? { EbsOptimizedSupport: "unsupported" }
        : { EbsOptimizedSupport: "default", EbsOptimizedInfo: { MaximumBandwidthInMbps: type.ebsMbps } }),
    },
    ...(type.gpus && {
      GpuInfo: {
        Gpus: type.gpus.map((g) => ({
          Name: g.name,
          Manufacturer: g.manufacturer,
          Count: g.count,
          MemoryInfo: { SizeInMiB: g.memoryMib },
        })),
      },
    }),
    ...(type.neuron && {
      NeuronInfo: { NeuronDevices: type.neuron.map((d) => ({ Name: d.name, Count: d.count, CoreInfo: { Count: d.cores } })) },
    }),
    ...(type.inference && {
      InferenceAcceleratorInfo: {
        Accelerators: type.inference.map((a) => ({ Name: a.name, Manufacturer: a.manufacturer, Count: a.count })),
      },
    }),
  };
}
