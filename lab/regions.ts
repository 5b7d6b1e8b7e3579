import { BUNDLED_REGIONS, bundledCatalogue } from "#adapters/catalogue/bundled.ts";
import { nearest } from "#core/lib/nearest.ts";
import type { Catalogue, CatalogueType } from "#core/offerings/catalogue.ts";
import { ArgumentError } from "#terminal/command-line.ts";

type BundledRegion = (typeof BUNDLED_REGIONS)[number];

interface StandIn {
  readonly region: string;
  /** The bundled region whose types and prices are used. */
  readonly base: BundledRegion;
  /** Last letters of the names of the zones. */
  readonly zones: string;
}

const standIns = (base: BundledRegion, regions: string): readonly StandIn[] =>
  regions.split(" ").map((region) => ({ region, base, zones: ZONES[region] ?? "abc" }));

/** Regions whose zones have other names than a, b and c. */
const ZONES: Readonly<Record<string, string>> = { "ap-northeast-1": "acd", "ca-central-1": "abd", "us-west-1": "ab" };

/**
 * The other commercial regions. The base is the bundled region that has the most instance types in common with the
 * region (Jaccard index of the lists of moto 5.2.5: 0.89 for us-east-2, 0.86 for eu-central-1, 0.81 for ap-south-1,
 * 0.74 for us-west-1, 0.32 for me-south-1). moto does not list ap-east-2, ap-southeast-6, ap-southeast-7 and
 * mx-central-1, which are small too.
 */
const STAND_INS: readonly StandIn[] = [
  ...standIns("us-west-2", "us-east-2 eu-central-1 eu-west-1 eu-south-2 ap-northeast-1"),
  ...standIns("ap-northeast-2", "us-west-1 ca-central-1 ca-west-1 mx-central-1 sa-east-1 eu-west-2 eu-west-3 eu-north-1 eu-south-1"),
  ...standIns("ap-northeast-2", "eu-central-2 af-south-1 il-central-1 me-central-1 me-south-1 ap-south-1 ap-south-2 ap-east-1 ap-east-2"),
  ...standIns("ap-northeast-2", "ap-northeast-3 ap-southeast-1 ap-southeast-2 ap-southeast-3 ap-southeast-4 ap-southeast-5"),
  ...standIns("ap-northeast-2", "ap-southeast-6 ap-southeast-7"),
];

/** All commercial regions; the lab plays each of them without a network. */
export const LAB_REGIONS: readonly string[] = [...BUNDLED_REGIONS, ...STAND_INS.map(({ region }) => region).sort()];

/** The region that an option names. Throws ArgumentError. */
export function labRegion(text: string): string {
  if (LAB_REGIONS.includes(text)) return text;
  const near = nearest(text, LAB_REGIONS);
  const fix = near === undefined ? `use one of ${LAB_REGIONS.join(", ")}` : `did you mean ${near}?`;
  throw new ArgumentError(`--region: there is no commercial region ${text}; ${fix}`);
}

/** Whose prices a region has: "us-west-2", or "us-west-2, since eu-central-1 is not bundled". */
export function pricesOf(region: string): string {
  const base = STAND_INS.find((other) => other.region === region)?.base;
  return base === undefined ? region : `${base}, since ${region} is not bundled`;
}

/**
 * Instance types, zones and prices of a region, spot prices invented. A region that is not bundled has those of its
 * base, under the names of its own zones.
 */
export function labCatalogue(region: string): Catalogue {
  const standIn = STAND_INS.find((other) => other.region === region);
  if (standIn === undefined) return bundledCatalogue(region, { withSyntheticSpot: true });
  const base = bundledCatalogue(standIn.base, { withSyntheticSpot: true });
  const renamed = renamedZones(base, standIn);
  const types = base.types.flatMap((type): readonly CatalogueType[] => {
    const zones = type.zones.flatMap((zone) => renamed.get(zone) ?? []);
    return zones.length === 0 ? [] : [{ ...type, zones }];
  });
  const spot = Object.entries(base.spot ?? {}).map(([type, prices]) => [
    type,
    Object.fromEntries(Object.entries(prices).flatMap(([zone, price]) => (renamed.has(zone) ? [[renamed.get(zone), price]] : []))),
  ]);
  const zones = [...renamed.values()].map((name, i) => ({ name, zoneId: `${zoneIdPrefix(region)}-az${i + 1}` }));
  return { ...base, region, zones, types, spot: Object.fromEntries(spot) };
}

/** The names in the region of the base's zones with the most types, in the order of names. */
function renamedZones({ zones, types }: Catalogue, { region, zones: letters }: StandIn): ReadonlyMap<string, string> {
  const offers = (zone: string): number => types.filter((type) => type.zones.includes(zone)).length;
  const counted = zones.map(({ name }) => ({ name, offers: offers(name) }));
  const chosen = counted.sort((a, b) => b.offers - a.offers || (a.name < b.name ? -1 : 1)).slice(0, letters.length);
  return new Map(
    chosen
      .map(({ name }) => name)
      .sort()
      .map((name, i) => [name, `${region}${letters[i]}`]),
  );
}

/** "euc1" for eu-central-1, "apse2" for ap-southeast-2: the zone ids of AWS begin so. */
function zoneIdPrefix(region: string): string {
  const [area = "", direction = "", number = ""] = region.split("-");
  return `${area}${/^(north|south)(east|west)$/.test(direction) ? `${direction[0]}${direction[5]}` : direction[0]}${number}`;
}
