import type { InstanceType, Offering } from "../model/instance-type.ts";
import { CAPACITY_TYPE, NODE_POOL, ZONE, ZONE_ID } from "../model/labels.ts";
import type { NodePool } from "../model/node-pool.ts";
import { allowsAbsent, has, type Requirement } from "../requirements/requirement.ts";
import {
  compatible,
  intersectAll,
  normalizeKey,
  type Requirements,
  requirementsFrom,
  requirementsFromLabels,
} from "../requirements/requirements.ts";

const RESERVATION_ID = "karpenter.k8s.aws/capacity-reservation-id";

/** What a pool says of all its nodes. Requirements of its template are not among it: they say what nodes may be, not what they are. */
export function poolFacts({ metadata, spec }: NodePool): Requirements {
  return intersectAll(requirementsFromLabels({ [NODE_POOL]: metadata.name }), requirementsFromLabels(spec.template.metadata?.labels));
}

/**
 * The offerings of a type that an overlay is about, in a pool of which `pool` is known; whether they can be had now does not count. None when pool
 * and type do not have all labels that it asks for.
 */
export function matchingOfferings(pool: Requirements, type: InstanceType, wanted: Requirements): readonly Offering[] {
  if (!compatible(factsOf(pool, type, wanted), wanted)) return [];
  return type.offerings.filter((offering) => admits(wanted, offering));
}

/** What pool and type say together about the labels asked for. A type has dozens of others, which need not be read. */
function factsOf(pool: Requirements, type: InstanceType, wanted: Requirements): Requirements {
  const fromType = requirementsFrom(type.requirements.filter(({ key }) => wanted.has(normalizeKey(key))));
  const fromPool = new Map([...pool].filter(([key]) => wanted.has(key)));
  return intersectAll(fromPool, fromType);
}

function admits(wanted: Requirements, { capacityType, zone, zoneId, reservationId }: Offering): boolean {
  const allows = (key: string, value: string | undefined, absent: (item: Requirement) => boolean): boolean => {
    const item = wanted.get(key);
    return item === undefined || (value === undefined ? absent(item) : has(item, value));
  };
  // The id of a zone without a subnet is not known; that an offering is in no reservation is.
  return (
    allows(CAPACITY_TYPE, capacityType, () => true) &&
    allows(ZONE, zone, () => true) &&
    allows(ZONE_ID, zoneId, () => true) &&
    allows(RESERVATION_ID, reservationId, allowsAbsent)
  );
}
