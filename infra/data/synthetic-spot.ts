import { createHash } from "node:crypto";
import type { CatalogueType } from "#core/offerings/catalogue.ts";

/**
 * Invented spot prices by type and zone, for the lab alone: between a quarter and three quarters of the on-demand
 * price, one factor a family and zone (adapters/catalogue/data/README.md). A type without spot or price has none.
 */
export function syntheticSpot(
  types: readonly Pick<CatalogueType, "name" | "zones" | "capacityTypes">[],
  onDemand: Readonly<Record<string, number>>,
): Record<string, Record<string, number>> {
  const spot: Record<string, Record<string, number>> = {};
  for (const { name, zones, capacityTypes } of types) {
    const price = onDemand[name];
    if (price === undefined || !capacityTypes.includes("spot")) continue;
    const family = name.slice(0, name.indexOf("."));
    spot[name] = Object.fromEntries(
      zones.map((zone) => [zone, Math.floor((Math.round(price * 1e6) * basisPoints(family, zone)) / 1e4) / 1e6]),
    );
  }
  return spot;
}

function basisPoints(family: string, zone: string): number {
  return 2500 + (createHash("sha256").update(`${family}|${zone}`).digest().readUInt32BE(0) % 5001);
}
