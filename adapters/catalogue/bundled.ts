// The catalogue of instance types, zones and prices of a region: bundled with the code, stored by the catalog function,
// and read by all functions. It knows no cluster; core/offerings makes instance types and offerings from it.

import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { Catalogue, TypeLimits } from "#core/offerings/catalogue.ts";

/** Regions whose catalogue ships with the code. */
export const BUNDLED_REGIONS = ["us-west-2", "us-east-1", "ap-northeast-2"] as const;

/**
 * The catalogue that ships with the code: what a region offered on its `asOf` date. The functions use it until prices
 * have been read once; the lab and the CLI always do. Throws for a region that is not bundled. `withSyntheticSpot` adds
 * invented spot prices per zone (data/README.md) and marks the catalogue as synthetic; without it there are no spot
 * prices, and on-demand prices are used for them.
 */
export function bundledCatalogue(region: string, { withSyntheticSpot = false }: { readonly withSyntheticSpot?: boolean } = {}): Catalogue {
  if (!(BUNDLED_REGIONS as readonly string[]).includes(region)) {
    throw new Error(
      `no instance types of region "${region}" are bundled, only of ${BUNDLED_REGIONS.join(", ")}: let the catalog function read them from EC2`,
    );
  }
  const catalogue = read<Catalogue>(`${region}.json.gz`);
  if (!withSyntheticSpot) return catalogue;
  const { spot } = read<Required<Pick<Catalogue, "spot">>>(`${region}.synthetic-spot.json.gz`);
  return { ...catalogue, spot, synthetic: true };
}

/**
 * On-demand prices of us-east-1, for a region without prices of its own, as in Karpenter. They order instance types by
 * price; the amounts are off by some percent, more in distant regions.
 */
export function standInPrices(): Catalogue["onDemand"] {
  return bundledCatalogue("us-east-1").onDemand;
}

/**
 * Branch interfaces, addresses per interface and baseline bandwidth by instance type, which no EC2 call returns for all
 * types.
 */
export function bundledLimits(): Readonly<Record<string, TypeLimits>> {
  return read("limits.json.gz");
}

// The bundler copies data/ next to the bundle, so the same path works from source and in a Lambda package.
function read<T>(name: string): T {
  return JSON.parse(gunzipSync(readFileSync(new URL(`./data/${name}`, import.meta.url))).toString("utf8")) as T;
}
