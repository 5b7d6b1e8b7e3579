import { type Catalogue, compactRecord } from "../../core/offerings/catalogue.ts";
import { bundledLimits } from "../adapters/catalogue/bundled.ts";
import { documentName, packCatalogue } from "../adapters/catalogue/document.ts";
import type { CatalogDeps } from "./deps.ts";

export type PriceDeps = Pick<CatalogDeps, "inventory" | "store" | "catalogue" | "log" | "now">;

/**
 * Reads instance types, zones and prices of the account's region and stores them for all functions. What cannot be read stays as it was; new prices go
 * over old ones, so a type never loses its price. Throws only when nothing at all could be read.
 */
export async function refreshPrices({ inventory, store, catalogue, log, now }: PriceDeps): Promise<void> {
  const old = await catalogue();
  let failed = 0;
  const part = async <T>(what: string, read: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await read();
    } catch (error) {
      failed += 1;
      log.error(`failed reading ${what}; those known before stay in use`, {
        region: old.region,
        error: error instanceof Error ? error.message : String(error),
      });
      return undefined;
    }
  };
  const [types, onDemand, spot] = await Promise.all([
    part("instance types", () => readTypes(inventory)),
    part("on-demand prices", () => inventory.onDemandPrices()),
    part("spot prices", () => inventory.spotPrices()),
  ]);
  if (failed === 3) throw new Error(`nothing could be read about the offerings of region ${old.region}; the log says why`);
  const fresh: Catalogue = {
    region: old.region,
    zones: types?.zones ?? old.zones,
    types: types?.types ?? old.types,
    onDemand: { ...old.onDemand, ...onDemand },
    ...((spot ?? old.spot) && { spot: mergeSpot(old.spot, spot) }),
    asOf: new Date(now()).toISOString(),
    ...(old.synthetic && { synthetic: true }),
  };
  await store.putDocument(documentName(fresh.region), packCatalogue(fresh), fresh.asOf);
  log.debug("updated offerings", { region: fresh.region, "instance-type-count": fresh.types.length, zones: fresh.zones.length });
}

async function readTypes(inventory: CatalogDeps["inventory"]): Promise<Pick<Catalogue, "types" | "zones">> {
  const [records, zonesByType, zones] = await Promise.all([inventory.instanceTypes(), inventory.instanceTypeZones(), inventory.zones()]);
  if (records.length === 0 || zones.length === 0) throw new Error("EC2 listed none");
  const limits = bundledLimits();
  const types = records.map((record) => compactRecord(record, limits[record.InstanceType], zonesByType[record.InstanceType] ?? []));
  const known = types.filter((type) => type !== undefined).sort((a, b) => (a.name < b.name ? -1 : 1));
  return { types: known, zones: [...zones].sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

type SpotPrices = NonNullable<Catalogue["spot"]>;

function mergeSpot(old: SpotPrices = {}, fresh: SpotPrices = {}): SpotPrices {
  const merged: Record<string, Readonly<Record<string, number>>> = { ...old };
  for (const [type, prices] of Object.entries(fresh)) merged[type] = { ...old[type], ...prices };
  return merged;
}
