import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PARTITIONS, partitionOf, pricingRegion } from "#settings/partitions.ts";
import { dataFolder } from "../account/service-models.ts";

interface Endpoints {
  readonly partitions: readonly {
    readonly partition: string;
    readonly dnsSuffix: string;
    readonly services: Readonly<Record<string, { readonly endpoints: Readonly<Record<string, unknown>> }>>;
  }[];
}

/** What settings/partitions.ts says otherwise than AWS's own list of endpoints, for each region with EKS. */
export function partitionFaults(): { readonly regions: number; readonly faults: readonly string[] } {
  const { partitions } = JSON.parse(readFileSync(join(dataFolder(), "endpoints.json"), "utf8")) as Endpoints;
  const regionsOf = (partition: (typeof partitions)[number], service: string): readonly string[] =>
    Object.keys(partition.services[service]?.endpoints ?? {}).filter((name) => !/^(fips-|aws-)/.test(name));
  const withEks = partitions.flatMap((partition) => regionsOf(partition, "eks").map((region) => ({ region, partition })));
  const faults = withEks.flatMap(({ region, partition }) => {
    const known = partitionOf(region);
    const pricing = regionsOf(partition, "api.pricing");
    if (known?.id !== partition.partition) return [`${region} is of ${partition.partition}, not of ${known?.id}`];
    return [
      ...(known.dnsSuffix === partition.dnsSuffix ? [] : [`${region}: ${partition.dnsSuffix}, not ${known.dnsSuffix}`]),
      ...(known.pricing.toSorted().join() === pricing.toSorted().join() ? [] : [`${known.id} has prices in ${pricing.join(", ")}`]),
      ...(pricing.length === 0 || pricing.includes(pricingRegion(region)) ? [] : [`${region}: ${pricingRegion(region)} has no prices`]),
    ];
  });
  const unknown = partitions.filter(({ partition }) => !PARTITIONS.some(({ id }) => id === partition));
  return { regions: withEks.length, faults: [...faults, ...unknown.map(({ partition }) => `the table has no ${partition}`)] };
}
