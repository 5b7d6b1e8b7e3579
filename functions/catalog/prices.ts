import { bundledLimits, standInPrices } from "#adapters/catalogue/bundled.ts";
import { documentName, packCatalogue } from "#adapters/catalogue/document.ts";
import { listed } from "#core/lib/listed.ts";
import { unknownBurstables } from "#core/offerings/burstable.ts";
import { type Catalogue, compactRecord } from "#core/offerings/catalogue.ts";
import { withoutFallen, withoutFallenSpot } from "#core/offerings/held-prices.ts";
import { partitionOf } from "#settings/partitions.ts";
import type { CatalogDeps } from "./deps.ts";

type PriceDeps = Pick<CatalogDeps, "account" | "inventory" | "store" | "catalogue" | "settings" | "log" | "now">;

/**
 * Reads the instance types, zones and prices of the account's region, and stores them for all functions. What cannot be
 * read stays as it was, and new prices are merged over the old ones, so that a type never loses its price. Throws only
 * when nothing could be read at all, or when no type is known.
 */
export async function refreshPrices({ account, inventory, store, catalogue, settings, log, now }: PriceDeps): Promise<void> {
  const old = await catalogue();
  let read = 0;
  const part = async <T>(what: string, ask: () => Promise<T>): Promise<T | undefined> => {
    try {
      const answer = await ask();
      read += 1;
      return answer;
    } catch (error) {
      log.error(`failed reading ${what}; those known before stay in use`, {
        region: old.region,
        error: error instanceof Error ? error.message : String(error),
      });
      return undefined;
    }
  };
  const [types, freshOnDemand, freshSpot] = await Promise.all([
    part("instance types", () => readTypes(inventory)),
    canAskPrices(old.region, settings) ? part("on-demand prices", () => inventory.onDemandPrices()) : undefined,
    part("spot prices", () => inventory.spotPrices()),
  ]);
  if (read === 0) throw new Error(`nothing could be read about the offerings of region ${old.region}; the log says why`);
  const known = types ?? old;
  if (known.types.length === 0) {
    throw new Error(
      `no instance type of region ${old.region} could be read, and none is bundled: nothing can be launched there; the log says why`,
    );
  }
  const { onDemand: fresh, spot, held } = withoutHeld(old, { onDemand: freshOnDemand, spot: freshSpot });
  const fallen = [...Object.keys(held?.onDemand ?? {}), ...Object.keys(held?.spot ?? {})];
  if (fallen.length > 0)
    log.error("prices fell below a fifth; those before stay in use until they are read again", {
      region: old.region,
      types: fallen.slice(0, MAX_NAMED),
    });
  const onDemand = onDemandPrices(old, fresh);
  if (onDemand.standIn && !old.standIn) {
    const sentence = "no on-demand prices of this region are known; those of us-east-1 stand in for them";
    log.info(sentence, { region: old.region });
  }
  const written: Catalogue = {
    region: old.region,
    zones: known.zones,
    types: known.types,
    ...onDemand,
    ...((spot ?? old.spot) && { spot: mergeSpot(old.spot, spot) }),
    ...(held && { held }),
    asOf: new Date(now()).toISOString(),
    ...(old.synthetic && { synthetic: true }),
  };
  if (types !== undefined) reportUnknown(types.types, { log });
  await store.putDocument(documentName(written.region, account), packCatalogue(written), written.asOf);
  log.debug("updated offerings", { region: written.region, "instance-type-count": written.types.length, zones: written.zones.length });
}

/** Types that one line names. */
const MAX_NAMED = 10;

interface Fresh {
  readonly onDemand: Catalogue["onDemand"] | undefined;
  readonly spot: SpotPrices | undefined;
}

/** What was read without the prices that are held; prices that could not be read stay held. */
function withoutHeld(old: Catalogue, { onDemand, spot }: Fresh): Fresh & Pick<Catalogue, "held"> {
  const ofDemand = onDemand && withoutFallen(old.standIn ? {} : old.onDemand, onDemand, old.held?.onDemand);
  const ofSpot = spot && withoutFallenSpot(old.spot ?? {}, spot, old.held?.spot);
  const held = { onDemand: ofDemand?.held ?? old.held?.onDemand ?? {}, spot: ofSpot?.held ?? old.held?.spot ?? {} };
  const isAny = Object.keys(held.onDemand).length + Object.keys(held.spot).length > 0;
  return { onDemand: ofDemand?.prices, spot: ofSpot?.prices, ...(isAny && { held }) };
}

/**
 * Whether the Price List API can be called: GovCloud has no endpoint of it, and an isolated VPC reaches none
 * (karpenter-provider-aws: pkg/providers/pricing/pricing.go, DefaultProvider.UpdateOnDemandPricing).
 */
function canAskPrices(region: string, { isolatedVpc }: PriceDeps["settings"]): boolean {
  return !isolatedVpc && partitionOf(region)?.pricing.length !== 0;
}

/**
 * New prices merged over the old ones of this region; without any, those of us-east-1. Prices of two regions are never
 * mixed.
 */
function onDemandPrices(old: Catalogue, fresh: Catalogue["onDemand"] | undefined): Pick<Catalogue, "onDemand" | "standIn"> {
  const own = { ...(!old.standIn && old.onDemand), ...fresh };
  return Object.keys(own).length > 0 ? { onDemand: own } : { onDemand: standInPrices(), standIn: true };
}

async function readTypes(inventory: CatalogDeps["inventory"]): Promise<Pick<Catalogue, "types" | "zones">> {
  const [records, zonesByType, zones] = await Promise.all([inventory.instanceTypes(), inventory.instanceTypeZones(), inventory.zones()]);
  if (records.length === 0 || zones.length === 0) throw new Error("EC2 listed none");
  const limits = bundledLimits();
  const types = records.map((record) => compactRecord(record, limits[record.InstanceType], zonesByType[record.InstanceType] ?? []));
  const known = types.filter((type) => type !== undefined).sort((a, b) => (a.name < b.name ? -1 : 1));
  return { types: known, zones: [...zones].sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

/** Logs the types of which less is known: their family, or their row of limits, is newer than the code. */
function reportUnknown(types: Catalogue["types"], { log }: Pick<PriceDeps, "log">): void {
  const families = unknownBurstables(types);
  if (families.length > 0)
    log.info("burstable instance families whose CPU credits are not known count as T3", { families: families.join(", ") });
  const rowless = types.filter(({ tableIpv4PerEni }) => tableIpv4PerEni === undefined).map(({ name }) => name);
  if (rowless.length > 0)
    log.info("instance types without a row of limits have no pods with security groups and no label of their network bandwidth", {
      "instance-types": listed(rowless, 20),
    });
}

type SpotPrices = NonNullable<Catalogue["spot"]>;

function mergeSpot(old: SpotPrices = {}, fresh: SpotPrices = {}): SpotPrices {
  const merged: Record<string, Readonly<Record<string, number>>> = { ...old };
  for (const [type, prices] of Object.entries(fresh)) merged[type] = { ...old[type], ...prices };
  return merged;
}
