import type {
  DescribeInstanceTypeOfferingsRequest,
  DescribeInstanceTypeOfferingsResult,
  DescribeInstanceTypesRequest,
  DescribeInstanceTypesResult,
  DescribeSpotPriceHistoryRequest,
  DescribeSpotPriceHistoryResult,
  Filter,
  InstanceTypeInfo,
  InstanceTypeOffering,
  SpotPrice,
} from "@aws-sdk/client-ec2";
import { AwsError } from "../errors.ts";
import type { FakeAwsState } from "../world.ts";
import { page, select, wildcard } from "./select.ts";

/**
 * Filter names that differ from the record's. Other names follow the record: `a-b.c-d` is AB.CD, with or without a
 * plural s.
 */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  "memory-info.size-in-mib": "MemoryInfo.SizeInMiB",
  "vcpu-info.default-vcpus": "VCpuInfo.DefaultVCpus",
  "vcpu-info.default-cores": "VCpuInfo.DefaultCores",
  "network-info.ipv4-addresses-per-interface": "NetworkInfo.Ipv4AddressesPerInterface",
  "supported-usage-class": "SupportedUsageClasses",
};

/**
 * Filters apply to each page of the whole list: as with EC2, a page may have fewer items than MaxResults, or none, and
 * still a next page.
 */
export function describeInstanceTypes(world: FakeAwsState, request: DescribeInstanceTypesRequest): DescribeInstanceTypesResult {
  const names: readonly string[] = request.InstanceTypes ?? [];
  const unknown = names.filter((name) => !world.types.has(name));
  if (unknown.length > 0) {
    throw new AwsError("InvalidInstanceType", `The following supplied instance types do not exist: [${unknown.join(", ")}]`);
  }
  const named = names.length > 0 ? names.flatMap((name) => world.types.get(name) ?? []) : [...world.types.values()];
  const { items, next } = page(named, request, { min: 5, max: 100, whole: 100 });
  const chosen = items.filter((type) => (request.Filters ?? []).every((filter) => fits(type, filter)));
  return { InstanceTypes: chosen, ...(next === undefined ? {} : { NextToken: next }) };
}

function fits(type: InstanceTypeInfo, { Name = "", Values = [] }: Filter): boolean {
  const path =
    OTHER_NAMES[Name] ??
    Name.split(".")
      .map((step) => step.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase()))
      .join(".");
  const known = hasPath(path) || hasPath(`${path}s`);
  if (!known) throw new AwsError("InvalidParameterValue", `The filter '${Name}' is invalid`);
  const found = [valuesAt(type, path.split(".")), valuesAt(type, `${path}s`.split("."))].flat().map(String);
  return Values.map(wildcard).some((test) => found.some(test));
}

/** Top-level fields of the records; a filter on another field is an error. */
const ROOTS = new Set(
  "InstanceType CurrentGeneration FreeTierEligible SupportedUsageClasses SupportedRootDeviceTypes SupportedVirtualizationTypes BareMetal Hypervisor ProcessorInfo VCpuInfo MemoryInfo InstanceStorageSupported InstanceStorageInfo EbsInfo NetworkInfo GpuInfo FpgaInfo PlacementGroupInfo InferenceAcceleratorInfo NeuronInfo HibernationSupported BurstablePerformanceSupported DedicatedHostsSupported AutoRecoverySupported SupportedBootModes NitroEnclavesSupport NitroTpmSupport".split(
    " ",
  ),
);
const hasPath = (path: string): boolean => ROOTS.has(path.split(".")[0] ?? "");

function valuesAt(value: unknown, path: readonly string[]): unknown[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item) => valuesAt(item, path));
  const [step, ...rest] = path;
  if (step === undefined) return [value];
  return typeof value === "object" ? valuesAt((value as Record<string, unknown>)[step], rest) : [];
}

export function describeInstanceTypeOfferings(
  world: FakeAwsState,
  request: DescribeInstanceTypeOfferingsRequest,
): DescribeInstanceTypeOfferingsResult {
  const { offerings, zones } = world.options.catalogue;
  const zoneIds = new Map(zones.map(({ name, zoneId }) => [name, zoneId]));
  const kind = request.LocationType ?? "region";
  const all: InstanceTypeOffering[] = Object.entries(offerings).flatMap(([type, where]) => {
    const locations =
      kind === "region" ? [world.region] : where.map((zone) => (kind === "availability-zone" ? zone : (zoneIds.get(zone) ?? "")));
    return locations.map((Location) => ({
      InstanceType: type as InstanceTypeOffering["InstanceType"] & string,
      LocationType: kind,
      Location,
    }));
  });
  const chosen = select<InstanceTypeOffering & { readonly tags?: never }>(all, request.Filters, {
    location: ({ Location }) => Location,
    "instance-type": ({ InstanceType }) => InstanceType,
  });
  const { items, next } = page(chosen, request, { min: 5, max: 1000, whole: 1000 });
  return { InstanceTypeOfferings: [...items], ...(next === undefined ? {} : { NextToken: next }) };
}

const LINUX = "Linux/UNIX";
const HOUR_MS = 3_600_000;

/**
 * The current price of each type and zone, as for a start time of now; older prices are not kept. As in EC2, a request
 * for `Linux/UNIX (Amazon VPC)` gets the answers of `Linux/UNIX`, and the last page's token is empty and not absent.
 */
export function describeSpotPriceHistory(world: FakeAwsState, request: DescribeSpotPriceHistoryRequest): DescribeSpotPriceHistoryResult {
  const Timestamp = new Date(world.clock.now() - HOUR_MS);
  const types: readonly string[] = request.InstanceTypes ?? [];
  const products = request.ProductDescriptions ?? [];
  const linux = products.length === 0 || products.some((product) => product.startsWith(LINUX));
  const all: SpotPrice[] = [...(linux ? world.prices.spot : [])]
    .filter(([type]) => types.length === 0 || types.includes(type))
    .flatMap(([type, byZone]) =>
      [...byZone].map(
        ([AvailabilityZone, price]): SpotPrice => ({
          InstanceType: type as NonNullable<SpotPrice["InstanceType"]>,
          ProductDescription: LINUX,
          SpotPrice: price.toFixed(6),
          Timestamp,
          AvailabilityZone,
        }),
      ),
    )
    .filter(({ AvailabilityZone }) => request.AvailabilityZone === undefined || AvailabilityZone === request.AvailabilityZone);
  const chosen = select<SpotPrice & { readonly tags?: never }>(all, request.Filters, {
    "availability-zone": (price) => price.AvailabilityZone,
    "instance-type": ({ InstanceType }) => InstanceType,
    "product-description": ({ ProductDescription }) => [ProductDescription, `${LINUX} (Amazon VPC)`],
    "spot-price": (price) => price.SpotPrice,
  });
  // EC2 accepts any page size here and returns at most 1,000 entries.
  const size = Math.min(request.MaxResults ?? 1000, 1000);
  const { items, next } = page(chosen, { NextToken: request.NextToken, MaxResults: size }, { min: 1, max: 1000 });
  return { SpotPriceHistory: [...items], NextToken: next ?? "" };
}
