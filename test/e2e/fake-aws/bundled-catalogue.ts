import type { _InstanceType, ArchitectureType, InstanceTypeInfo } from "@aws-sdk/client-ec2";
import { bundledCatalogue } from "#adapters/catalogue/bundled.ts";
import type { CatalogueType } from "#core/offerings/catalogue.ts";
import { rawLaunchFacts } from "#core/offerings/launch-facts.ts";
import type { FakeCatalogue } from "./catalogue.ts";

/**
 * A whole region from the product's bundled catalogue, so that a checkout needs no other data. The records contain only
 * the fields that the catalogue keeps; spot prices are synthetic. Throws for a region that is not bundled.
 */
export function regionCatalogue(region: string): FakeCatalogue {
  const bundled = bundledCatalogue(region, { withSyntheticSpot: true });
  return {
    region,
    zones: bundled.zones,
    offerings: Object.fromEntries(bundled.types.map(({ name, zones }) => [name, zones])),
    instanceTypes: bundled.types.map(expandType),
    onDemandPrices: bundled.onDemand,
    spotPrices: bundled.spot ?? {},
  };
}

/** A catalogue entry in the shape of DescribeInstanceTypes; the inverse of `compactRecord`. */
export function expandType(type: CatalogueType): InstanceTypeInfo {
  const facts = rawLaunchFacts(type, type.enis);
  const storage = type.storageGb !== undefined || type.nvme !== undefined;
  return {
    InstanceType: type.name as _InstanceType,
    CurrentGeneration: true,
    SupportedUsageClasses: [...type.capacityTypes],
    SupportedRootDeviceTypes: ["ebs"],
    SupportedVirtualizationTypes: ["hvm"],
    BareMetal: type.hypervisor === undefined,
    ...(type.hypervisor === undefined ? {} : { Hypervisor: type.hypervisor as "nitro" | "xen" }),
    ProcessorInfo: {
      SupportedArchitectures: [(type.arch === "amd64" ? "x86_64" : "arm64") satisfies ArchitectureType],
      ...(type.clockMhz === 0 ? {} : { SustainedClockSpeedInGhz: type.clockMhz / 1000 }),
      Manufacturer: type.cpuManufacturer,
      SupportedFeatures: [...facts.SupportedFeatures],
    },
    PlacementGroupInfo: { SupportedStrategies: [...facts.SupportedStrategies] },
    VCpuInfo: { DefaultVCpus: type.cpu },
    MemoryInfo: { SizeInMiB: type.memoryMib },
    InstanceStorageSupported: storage,
    ...(storage
      ? {
          InstanceStorageInfo: {
            ...(type.storageGb === undefined ? {} : { TotalSizeInGB: type.storageGb }),
            ...(type.nvme === undefined ? {} : { NvmeSupport: type.nvme ? "required" : "unsupported" }),
          },
        }
      : {}),
    NitroEnclavesSupport: facts.NitroEnclavesSupport,
    BurstablePerformanceSupported: type.burstable ?? false,
    EbsInfo: {
      ...facts.EbsInfo,
      ...(type.ebsMbps === undefined
        ? { EbsOptimizedSupport: "unsupported" }
        : { EbsOptimizedSupport: "default", EbsOptimizedInfo: { MaximumBandwidthInMbps: type.ebsMbps } }),
    },
    NetworkInfo: {
      DefaultNetworkCardIndex: 0,
      MaximumNetworkCards: facts.NetworkCards.length,
      EnaSupport: facts.EnaSupport,
      MaximumNetworkInterfaces: type.enis,
      NetworkCards: [...facts.NetworkCards],
      Ipv4AddressesPerInterface: type.ipv4PerEni,
      EncryptionInTransitSupported: type.encryptionInTransit,
      EfaSupported: type.efa !== undefined,
      ...(type.efa === undefined ? {} : { EfaInfo: { MaximumEfaInterfaces: type.efa } }),
    },
    ...(type.gpus
      ? {
          GpuInfo: {
            Gpus: type.gpus.map((gpu) => ({
              Name: gpu.name,
              Manufacturer: gpu.manufacturer,
              Count: gpu.count,
              MemoryInfo: { SizeInMiB: gpu.memoryMib },
            })),
          },
        }
      : {}),
    ...(type.neuron
      ? {
          NeuronInfo: {
            NeuronDevices: type.neuron.map(({ name, count, cores }) => ({ Name: name, Count: count, CoreInfo: { Count: cores } })),
          },
        }
      : {}),
    ...(type.inference
      ? {
          InferenceAcceleratorInfo: {
            Accelerators: type.inference.map(({ name, manufacturer, count }) => ({ Name: name, Manufacturer: manufacturer, Count: count })),
          },
        }
      : {}),
  };
}
