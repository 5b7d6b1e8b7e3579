// core/offerings: the instance types of a NodeClass: labels, capacity, overhead, and offerings with price and
// availability. The catalogue of the region, an EC2NodeClass and marks of unavailable offerings come in; InstanceType
// values go out. Pods, plans and AWS calls must not be known here.

import type { InstanceType, Offering } from "../model/instance-type.ts";
import type { EC2NodeClass, ResolvedReservation } from "../model/node-class.ts";
import type { NodeSelectorRequirementWithMinValues } from "../model/node-pool.ts";
import type { UnavailableOffering } from "../model/unavailable-offering.ts";
import { amiFor } from "../node-class/ami.ts";
import { amiFamilyOf, FAMILIES, type Family } from "../node-class/family.ts";
import { capacityOf, ephemeralStorage, podLimit, usableMemoryMib, volumeStorage } from "./capacity.ts";
import type { Catalogue, CatalogueType } from "./catalogue.ts";
import { type KubeletOfType, kubeletOfTypes } from "./kubelet-of-type.ts";
import { overheadOf } from "./overhead.ts";
import { placementRequirements } from "./placement.ts";
import { reservedOffering } from "./reservations.ts";
import { seenMemory } from "./seen-memory.ts";
import { suits } from "./suits.ts";
import { typeRequirements } from "./type-requirements.ts";
import { ANY, fullSubnets, type MarkOf, placeIn, unavailableIndex } from "./unavailable.ts";
import { volumeLimit } from "./volume-limit.ts";
import { volumePrice } from "./volume-price.ts";

/** Settings that instance types depend on, under Karpenter's names. */
export interface InstanceTypeSettings {
  /** Share of memory that the hypervisor uses; 0.075 by default. */
  readonly vmMemoryOverheadPercent: number;
  readonly reservedEnis: number;
}

export interface InstanceTypesInput {
  readonly catalogue: Catalogue;
  /**
   * The status decides the zones; without subnets no offering is available. The metadata holds the memory seen on nodes
   * (seen-memory.ts).
   */
  readonly nodeClass: Pick<EC2NodeClass, "spec" | "status"> & Partial<Pick<EC2NodeClass, "metadata">>;
  /** Marks that have not expired. */
  readonly unavailable: readonly UnavailableOffering[];
  readonly settings: InstanceTypeSettings;
  /** Instances of the cluster in each capacity reservation, from `heldReservations`; absent: none. */
  readonly held?: ReadonlyMap<string, number>;
}

/**
 * All types of the catalogue as nodes of one NodeClass, in the catalogue's order. The result depends only on the input,
 * so callers may cache it while catalogue, NodeClass and marks are equal
 * (karpenter-provider-aws: pkg/providers/instancetype/types.go, DefaultResolver.Resolve).
 */
export function instanceTypesOf({ catalogue, nodeClass, unavailable, settings, held }: InstanceTypesInput): readonly InstanceType[] {
  const subnets = nodeClass.status?.subnets ?? [];
  const subnetZoneIds = new Map(subnets.map(({ zone, zoneID }) => [zone, zoneID]));
  const full = fullSubnets(unavailable);
  const zones = catalogue.zones.map((zone) => ({
    name: zone.name,
    zoneId: subnetZoneIds.get(zone.name) || zone.zoneId,
    hasSubnet: subnetZoneIds.has(zone.name),
    ...fullZone(subnets.filter((subnet) => subnet.zone === zone.name).map(({ id }) => full.get(id))),
  }));
  const markOf = unavailableIndex(unavailable);
  const reservations = Map.groupBy(nodeClass.status?.capacityReservations ?? [], ({ instanceType }) => instanceType);
  const group = nodeClass.status?.placementGroup;
  const groupMarkOf: MarkOf = (type, zone, capacityType) => {
    if (group === undefined) return undefined;
    const place = placeIn(zone, group.id);
    return markOf(type, place, capacityType) ?? markOf(ANY, place, capacityType);
  };
  const placement = placementRequirements(group);
  const shared = { catalogue, nodeClass, settings, zones, markOf, groupMarkOf, reservations, placement };
  const family = FAMILIES[amiFamilyOf(nodeClass.spec)];
  const volumes = volumePrice(nodeClass.spec, family);
  const volume = volumeStorage(nodeClass.spec, family);
  const context = {
    ...shared,
    family,
    volumes,
    volume,
    usableZones: zonesByNames(zones),
    seen: seenMemory(nodeClass),
    kubeletOf: kubeletOfTypes(nodeClass.spec, settings.reservedEnis),
    ...(held && { held }),
  };
  return catalogue.types.map((type) => instanceTypeOf(type, context));
}

/** The mark of a zone whose subnets are all without free addresses: the one that ends first. */
function fullZone(marks: readonly (UnavailableOffering | undefined)[]): Pick<Context["zones"][number], "full"> {
  const known = marks.filter((mark) => mark !== undefined).sort((a, b) => a.expiresAt - b.expiresAt);
  return known[0] !== undefined && known.length === marks.length ? { full: known[0] } : {};
}

/** The zones with a subnet among some names; types with the same zones share one list. */
function zonesByNames(zones: Context["zones"]): Context["usableZones"] {
  const lists = new Map<string, Context["zones"]>();
  return (names) => {
    const text = names.join();
    const list = lists.get(text) ?? zones.filter((zone) => zone.hasSubnet && names.includes(zone.name));
    lists.set(text, list);
    return list;
  };
}

interface Context extends Omit<InstanceTypesInput, "unavailable"> {
  readonly family: Family;
  readonly zones: readonly {
    readonly name: string;
    readonly zoneId: string;
    readonly hasSubnet: boolean;
    /** Set while no subnet of the zone has free addresses. */
    readonly full?: UnavailableOffering;
  }[];
  /** Those of some zones that have a subnet. */
  readonly usableZones: (names: readonly string[]) => Context["zones"];
  readonly markOf: MarkOf;
  /** `markOf` for marks of the NodeClass's placement group. */
  readonly groupMarkOf: MarkOf;
  /** By instance type. */
  readonly reservations: ReadonlyMap<string, readonly ResolvedReservation[]>;
  readonly placement: readonly NodeSelectorRequirementWithMinValues[];
  /** USD per hour of a node's volumes. */
  readonly volumes: number;
  /** Size of the volume that pods write to, as a quantity. */
  readonly volume: string;
  readonly kubeletOf: (type: CatalogueType) => KubeletOfType;
  /** Memory seen on nodes, as quantities by instance type. */
  readonly seen: ReadonlyMap<string, string>;
}

function instanceTypeOf(type: CatalogueType, context: Context): InstanceType {
  const { spec } = context.nodeClass;
  const { family } = context;
  const memoryMib = usableMemoryMib(type, context.settings.vmMemoryOverheadPercent);
  const { kubelet, problem } = context.kubeletOf(type);
  const pods = podLimit(type, { ...spec, ...(kubelet && { kubelet }) }, family, context.settings.reservedEnis);
  const storage = ephemeralStorage(type, spec, context.volume);
  const volumes = volumeLimit(type, spec, family);
  const usable = context.usableZones(type.zones);
  const requirements = typeRequirements(type, context.catalogue.region, family, usable, context.reservations.get(type.name));
  // Until images are known, nothing is launched, and what the types offer is shown as if each had one.
  const boots = (context.nodeClass.status?.amis ?? []).length === 0 || amiFor({ requirements }, context.nodeClass) !== undefined;
  const fits = boots && problem === undefined && suits(type, context.nodeClass);
  return {
    name: type.name,
    requirements: context.placement.length === 0 ? requirements : [...requirements, ...context.placement],
    // The overhead is computed from the estimated memory, as in Karpenter.
    capacity: capacityOf(type, spec, family, { memory: context.seen.get(type.name) ?? `${memoryMib}Mi`, storage, pods }),
    overhead: overheadOf(type, kubelet, family, { memoryMib, storage, pods }),
    offerings: offeringsOf(type, fits, context).concat(reservedOfferings(type, fits, context)),
    volumePrice: context.volumes,
    ...(volumes !== undefined && { volumeLimit: volumes }),
    ...(type.burstable && { burstable: type.burstable }),
  };
}

/**
 * One offering for each zone of the region and each capacity type of the instance type; unreachable offerings are kept
 * as unavailable. `fits`: whether the NodeClass can launch the type, and has an image that it boots
 * (karpenter-provider-aws: pkg/providers/instancetype/offering/offering.go, DefaultProvider.InjectOfferings).
 */
function offeringsOf(type: CatalogueType, fits: boolean, { catalogue, zones, markOf, groupMarkOf }: Context): readonly Offering[] {
  const offerings: Offering[] = [];
  for (const zone of zones) {
    for (const capacityType of type.capacityTypes) {
      const price = capacityType === "spot" && catalogue.spot ? catalogue.spot[type.name]?.[zone.name] : catalogue.onDemand[type.name];
      const mark = markOf(type.name, zone.name, capacityType) ?? groupMarkOf(type.name, zone.name, capacityType) ?? zone.full;
      const inReach = fits && zone.hasSubnet && type.zones.includes(zone.name);
      const launchable = inReach && mark === undefined;
      const offering: { -readonly [K in keyof Offering]: Offering[K] } = {
        zone: zone.name,
        capacityType,
        price: price ?? 0,
        available: launchable && price !== undefined,
      };
      if (launchable && price === undefined) offering.unpriced = true;
      if (capacityType === "spot" && !catalogue.spot && price !== undefined) offering.priceAssumed = true;
      if (inReach && mark !== undefined) Object.assign(offering, unavailableFor(mark));
      if (zone.hasSubnet) offering.zoneId = zone.zoneId;
      offerings.push(offering);
    }
  }
  return offerings;
}

const unavailableFor = ({ expiresAt, cause }: UnavailableOffering): Pick<Offering, "unavailableUntil" | "unavailableCause"> => ({
  unavailableUntil: expiresAt,
  ...(cause && { unavailableCause: cause }),
});

/** One offering for each reservation of the type in a zone of the NodeClass. */
function reservedOfferings(type: CatalogueType, fits: boolean, context: Context): readonly Offering[] {
  return (context.reservations.get(type.name) ?? []).flatMap((reservation) => {
    const zone = context.zones.find(({ name }) => name === reservation.availabilityZone);
    if (zone === undefined) return [];
    const mark = context.markOf(ANY, reservation.id, "reserved") ?? context.markOf(ANY, zone.name, "reserved") ?? zone.full;
    const inReach = fits && zone.hasSubnet;
    const offering = reservedOffering(reservation, {
      onDemand: context.catalogue.onDemand[type.name],
      held: context.held?.get(reservation.id) ?? 0,
      usable: inReach && mark === undefined,
      zoneId: zone.hasSubnet ? zone.zoneId : undefined,
    });
    return inReach && mark !== undefined ? { ...offering, ...unavailableFor(mark) } : offering;
  });
}
