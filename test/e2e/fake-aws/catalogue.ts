import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { InstanceTypeInfo } from "@aws-sdk/client-ec2";

export type FakeZone = { readonly name: string; readonly zoneId: string };

/**
 * What the fake offers: the instance types of one region as DescribeInstanceTypes returns them, their zones and prices.
 */
export type FakeCatalogue = {
  readonly region: string;
  readonly zones: readonly FakeZone[];
  /** Instance type → zones that offer it. */
  readonly offerings: Readonly<Record<string, readonly string[]>>;
  readonly instanceTypes: readonly InstanceTypeInfo[];
  /** Instance type → USD per hour. */
  readonly onDemandPrices: Readonly<Record<string, number>>;
  /** Instance type → zone → USD per hour. */
  readonly spotPrices: Readonly<Record<string, Readonly<Record<string, number>>>>;
};

/** Reads JSON from a file; decompresses it when the name ends in `.gz`. */
export function readJson<T>(path: string): T {
  const bytes = readFileSync(path);
  return JSON.parse((path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8")) as T;
}

/**
 * Files of raw records and prices, as `{region, zones, offerings, instanceTypes}`, `{onDemand: {region: …}}` and
 * `{spot: {region: …}}`.
 */
export type CatalogueFiles = { readonly instanceTypes: string; readonly prices: string; readonly spotPrices: string };

/**
 * A whole region from files; every path may be `.json` or `.json.gz`. Throws a sentence when the price files lack the
 * region.
 */
export function loadCatalogue(files: CatalogueFiles): FakeCatalogue {
  const base = readJson<Pick<FakeCatalogue, "region" | "zones" | "offerings" | "instanceTypes">>(files.instanceTypes);
  const onDemandPrices = readJson<{ onDemand: Record<string, FakeCatalogue["onDemandPrices"]> }>(files.prices).onDemand[base.region];
  const spotPrices = readJson<{ spot: Record<string, FakeCatalogue["spotPrices"]> }>(files.spotPrices).spot[base.region];
  if (!onDemandPrices || !spotPrices) {
    throw new Error(
      `${onDemandPrices ? files.spotPrices : files.prices} has no prices for ${base.region}: give price files that cover this region.`,
    );
  }
  return {
    region: base.region,
    zones: base.zones,
    offerings: base.offerings,
    instanceTypes: base.instanceTypes,
    onDemandPrices,
    spotPrices,
  };
}
