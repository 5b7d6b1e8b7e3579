import { CAPACITY_RESERVATION_ID, CAPACITY_TYPE } from "../../model/labels.ts";
import { type Requirement, requirement } from "../../requirements/requirement.ts";
import { hasBit } from "../tables/bitset.ts";
import type { RequirementSet, RequirementSets } from "../tables/requirement-sets.ts";
import type { PlannedClaim } from "./planned-claim.ts";

/**
 * Instances left in capacity reservations while claims are planned. A claim holds one instance of each reservation that
 * it could be launched into
 * (karpenter: pkg/controllers/provisioning/scheduling/reservationmanager.go, ReservationManager.Reserve).
 */
export class Reservations {
  readonly #left: Map<string, number>;

  constructor(capacity: ReadonlyMap<string, number>) {
    this.#left = new Map(capacity);
  }

  /** Those of some reservations that the claim holds or could still get. */
  reservable(claim: PlannedClaim, ids: readonly string[]): readonly string[] {
    return ids.filter((id) => claim.reservations.includes(id) || (this.#left.get(id) ?? 0) > 0);
  }

  /** Makes the claim hold exactly these reservations; those that it held besides are free again. */
  hold(claim: PlannedClaim, ids: readonly string[]): void {
    if (ids.join() === claim.reservations.join()) return;
    for (const id of claim.reservations) if (!ids.includes(id)) this.#left.set(id, (this.#left.get(id) ?? 0) + 1);
    for (const id of ids) if (!claim.reservations.includes(id)) this.#left.set(id, (this.#left.get(id) ?? 0) - 1);
    claim.reservations = ids;
  }
}

/**
 * The requirements of a finished claim: pinned to the reservations that it holds, or kept out of reserved capacity.
 * Where the pinned claim would have too few types for minValues, it excludes only the reservations that it does not
 * hold, and other capacity stays allowed.
 */
export function withReservations(claim: PlannedClaim, sets: RequirementSets): RequirementSet {
  const { set, reservations, template } = claim;
  const joined = (...items: readonly Requirement[]): RequirementSet =>
    sets.join(set, sets.intern(new Map(items.map((item) => [item.key, item])))) ?? set;
  const compatible = template.table.reservations(set, claim.types);
  if (reservations.length === 0) return compatible.length === 0 ? set : joined(requirement(CAPACITY_TYPE, "NotIn", ["reserved"]));
  const pinned = joined(requirement(CAPACITY_TYPE, "In", ["reserved"]), requirement(CAPACITY_RESERVATION_ID, "In", reservations));
  if (claim.minValuesRelaxed || hasMinValues(claim, pinned)) return pinned;
  const others = compatible.filter((id) => !reservations.includes(id));
  return others.length === 0 ? set : joined(requirement(CAPACITY_RESERVATION_ID, "NotIn", others));
}

/**
 * Whether the types that the claim could be launched as under a set have as many values as the pool's minValues
 * require.
 */
function hasMinValues({ template, types }: PlannedClaim, set: RequirementSet): boolean {
  if (template.minValues.length === 0) return true;
  const admitted = template.table.admitted(set);
  return template.minValues.every(({ key, min }) => {
    const values = new Set<string>();
    for (let t = 0; t < template.table.types.length && values.size < min; t++) {
      if (hasBit(types, t) && hasBit(admitted, t)) for (const value of template.table.valuesOf(t, key)) values.add(value);
    }
    return values.size >= min;
  });
}
