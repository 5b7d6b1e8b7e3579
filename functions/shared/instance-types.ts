import { LruMap } from "#core/lib/lru-map.ts";
import type { InstanceType } from "#core/model/instance-type.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import type { UnavailableOffering } from "#core/model/unavailable-offering.ts";
import type { Catalogue } from "#core/offerings/catalogue.ts";
import { type InstanceTypeSettings, instanceTypesOf } from "#core/offerings/instance-types.ts";
import { SEEN_MEMORY } from "#core/offerings/seen-memory.ts";

/**
 * How many lists a warm function remembers per catalogue: EC2NodeClasses times recent sets of unavailable offerings. No
 * benchmark has tuned it.
 */
const MAX_REMEMBERED_LISTS = 8;

const known = new WeakMap<Catalogue, LruMap<string, readonly InstanceType[]>>();

/**
 * The instance types of an EC2NodeClass, remembered for as long as nothing that they depend on changes: building some
 * 1,300 types takes 50 to 100 ms, and a warm function needs them each minute. The same list object is returned each
 * time, so that callers can cache by its identity.
 * @param held how many instances of the cluster run in each capacity reservation (core/offerings/reservations.ts)
 */
export function instanceTypesFor(
  catalogue: Catalogue,
  nodeClass: EC2NodeClass,
  unavailable: readonly UnavailableOffering[],
  settings: InstanceTypeSettings,
  held: ReadonlyMap<string, number> = new Map(),
): readonly InstanceType[] {
  const { vmMemoryOverheadPercent, reservedEnis } = settings;
  const marks = unavailable
    .map(
      ({ instanceType, zone, capacityType, expiresAt, cause }) =>
        `${capacityType}:${instanceType}:${zone}:${expiresAt}:${cause?.code ?? ""}`,
    )
    .sort();
  const { spec, status, metadata } = nodeClass;
  const { subnets, amis, capacityReservations = [], placementGroup } = status ?? {};
  const taken = capacityReservations.map(({ id }) => held.get(id) ?? 0);
  const found = [subnets, amis, capacityReservations, taken, placementGroup, metadata.annotations?.[SEEN_MEMORY]];
  const key = JSON.stringify([spec, found, marks, vmMemoryOverheadPercent, reservedEnis]);
  const byKey = known.get(catalogue) ?? new LruMap<string, readonly InstanceType[]>(MAX_REMEMBERED_LISTS);
  known.set(catalogue, byKey);
  const types =
    byKey.get(key) ?? instanceTypesOf({ catalogue, nodeClass, unavailable, settings: { vmMemoryOverheadPercent, reservedEnis }, held });
  byKey.set(key, types);
  return types;
}
