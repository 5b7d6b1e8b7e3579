import type { ResourceList } from "../model/kubernetes.ts";
import type { EC2NodeClassSpec } from "../model/node-class.ts";
import type { Family } from "../node-class/family.ts";
import type { CatalogueType } from "./catalogue.ts";
import { efaOnly } from "./suits.ts";

const DEFAULT_STORAGE = "20Gi";

/**
 * Memory that pods and reservations share, MiB: EC2's amount less the hypervisor's overhead
 * (karpenter-provider-aws: pkg/providers/instancetype/types.go, memory).
 */
export function usableMemoryMib(type: CatalogueType, vmMemoryOverheadPercent: number): number {
  const mib = type.memoryMib - (type.arch === "arm64" ? 64 : 0);
  // In bytes and back, in this order: a whole number of MiB must not be rounded up by another rounding.
  return mib - Math.ceil((mib * 1024 * 1024 * vmMemoryOverheadPercent) / 1024 / 1024);
}

/**
 * Pods that the interfaces of the default network card have addresses for; 0 when no interface is left
 * (karpenter-provider-aws: pkg/providers/instancetype/types.go, ENILimitedPods).
 */
export function eniLimitedPods(type: CatalogueType, reservedEnis: number): number {
  const enis = type.enis - reservedEnis;
  return enis > 0 ? enis * (type.ipv4PerEni - 1) + 2 : 0;
}

/**
 * The kubelet's pod limit; an expression in maxPods counts as absent
 * (karpenter-provider-aws: pkg/providers/instancetype/types.go, pods).
 */
export function podLimit(
  type: CatalogueType,
  { kubelet, networkInterfaces }: Pick<EC2NodeClassSpec, "kubelet" | "networkInterfaces">,
  family: Family,
  reservedEnis: number,
): number {
  const withoutPods = reservedEnis + efaOnly(networkInterfaces).filter(({ networkCardIndex }) => networkCardIndex === 0).length;
  const fixed = typeof kubelet?.maxPods === "number" ? kubelet.maxPods : undefined;
  const limit = fixed ?? (family.eniLimitedPods ? eniLimitedPods(type, withoutPods) : 110);
  const perCore = kubelet?.podsPerCore ?? 0;
  return perCore > 0 && family.honoursPodsPerCore ? Math.min(limit, perCore * type.cpu) : limit;
}

/**
 * Ephemeral storage as a quantity: the instance store when instanceStorePolicy is RAID0, else `volume`, the one that
 * pods write to (karpenter-provider-aws: pkg/providers/instancetype/types.go, ephemeralStorage).
 */
export function ephemeralStorage(type: CatalogueType, { instanceStorePolicy }: EC2NodeClassSpec, volume: string): string {
  return instanceStorePolicy === "RAID0" && type.storageGb !== undefined ? `${type.storageGb}G` : volume;
}

/** Size of the volume that pods write to, as a quantity; the same for all types of a NodeClass. */
export function volumeStorage(spec: EC2NodeClassSpec, family: Family): string {
  const mappings = spec.blockDeviceMappings ?? [];
  const root = mappings.find((mapping) => mapping.rootVolume && mapping.ebs?.volumeSize !== undefined);
  if (root?.ebs?.volumeSize !== undefined) return root.ebs.volumeSize;
  const devices = mappings.length > 0 ? mappings : family.defaultDevices;
  const device = family.podDevice === undefined ? devices.at(-1) : devices.find(({ deviceName }) => deviceName === family.podDevice);
  const fallback = family.defaultDevices.find(({ deviceName }) => deviceName === family.podDevice);
  return device?.ebs?.volumeSize ?? (family.podDevice === undefined ? undefined : fallback?.ebs?.volumeSize) ?? DEFAULT_STORAGE;
}

/** EFA interfaces of the node: those that the NodeClass lists, else as many as the type has. */
function efaOf({ efa = 0 }: CatalogueType, { networkInterfaces = [] }: EC2NodeClassSpec): number {
  return networkInterfaces.length > 0 ? efaOnly(networkInterfaces).length : efa;
}

/**
 * The capacity of a node of this type, before reservations; `memory` and `storage` are quantities
 * (karpenter-provider-aws: pkg/providers/instancetype/types.go, computeCapacity).
 */
export function capacityOf(
  type: CatalogueType,
  spec: EC2NodeClassSpec,
  family: Family,
  { memory, storage, pods }: { readonly memory: string; readonly storage: string; readonly pods: number },
): ResourceList {
  const gpus = (manufacturer: string): string =>
    String(type.gpus?.reduce((sum, gpu) => sum + (gpu.manufacturer === manufacturer ? gpu.count : 0), 0) ?? 0);
  const neuron = type.neuron ?? [];
  const first = neuron[0];
  return {
    cpu: String(type.cpu),
    memory,
    "ephemeral-storage": storage,
    pods: String(pods),
    "vpc.amazonaws.com/pod-eni": String(type.podEni ?? 0),
    "vpc.amazonaws.com/efa": String(efaOf(type, spec)),
    "nvidia.com/gpu": gpus("NVIDIA"),
    "amd.com/gpu": gpus("AMD"),
    "habana.ai/gaudi": gpus("Habana"),
    "aws.amazon.com/neuron": String(neuron.reduce((sum, device) => sum + device.count, 0)),
    "aws.amazon.com/neuroncore": String(first ? first.count * first.cores : 0),
    ...(family.os === "windows" && { "vpc.amazonaws.com/PrivateIPv4Address": String(Math.max(0, windowsAddresses(type) - 1)) }),
  };
}

/** IPv4 addresses of the first interface. A type without a row in the limits table has what EC2 lists. */
const windowsAddresses = ({ tableIpv4PerEni, ipv4PerEni }: CatalogueType): number => tableIpv4PerEni ?? ipv4PerEni;
