import type { InstanceType, Offering } from "../../model/instance-type.ts";
import { CAPACITY_TYPE, ZONE, ZONE_ID } from "../../model/labels.ts";
import { allowsAbsent, has, type Requirement } from "../../requirements/requirement.ts";
import type { Requirements } from "../../requirements/requirements.ts";
import { type Bitset, emptyBitset, setBit } from "./bitset.ts";

export const RESERVATION_ID = "karpenter.k8s.aws/capacity-reservation-id";
/** Labels that distinguish the offerings of an instance type. */
export const OFFERING_KEYS = [ZONE, CAPACITY_TYPE, ZONE_ID, RESERVATION_ID];

/** The requirement on each of OFFERING_KEYS, in their order; undefined without one. */
export type OfferingRequirements = readonly (Requirement | undefined)[];

/** The part of some requirements that is about offerings. */
export function offeringRequirementsOf(requirements: Requirements): OfferingRequirements {
  return OFFERING_KEYS.map((key) => requirements.get(key));
}

/** Prices of the offerings that a requirement set allows. */
export interface Prices {
  /** USD per hour of the cheapest available offering by type; Infinity without one. */
  readonly byType: Float64Array;
  /** Indexes of types with an offering, cheapest first, then by name. */
  readonly order: readonly number[];
  /** Capacity types with an available offering, each with its instance types. */
  readonly byCapacityType: readonly (readonly [string, Bitset])[];
}

/** Whether requirements allow an offering. Availability is not checked, except that of used-up reservations. */
export function admits([zone, capacityType, zoneId, reservation]: OfferingRequirements, offering: Offering): boolean {
  if (zone !== undefined && !has(zone, offering.zone)) return false;
  if (capacityType !== undefined && !has(capacityType, offering.capacityType)) return false;
  if (zoneId !== undefined && offering.zoneId !== undefined && !has(zoneId, offering.zoneId)) return false;
  if (isUsedUp(offering)) return false;
  if (reservation === undefined) return true;
  // An offering outside any reservation has no reservation id.
  return offering.reservationId === undefined ? allowsAbsent(reservation) : has(reservation, offering.reservationId);
}

function isUsedUp({ capacityType, reservationCapacity }: Offering): boolean {
  return capacityType === "reserved" && reservationCapacity !== undefined && reservationCapacity <= 0;
}

/**
 * Available offerings as a table: a row for each instance type, a column for each zone, capacity type and reservation.
 */
export class OfferingTable {
  readonly #size: number;
  /** One offering of each column, which stands for all of them. */
  readonly #columns: Offering[] = [];
  /** By column and type: USD per hour; Infinity without an offering. */
  readonly #prices: Float64Array[] = [];

  constructor(types: readonly InstanceType[]) {
    this.#size = types.length;
    const byText = new Map<string, number>();
    types.forEach(({ offerings }, t) => {
      for (const offering of offerings) {
        if (!offering.available || isUsedUp(offering)) continue;
        const { zone, capacityType, zoneId, reservationId, price } = offering;
        const text = `${zone} ${capacityType} ${zoneId} ${reservationId}`;
        let column = byText.get(text);
        if (column === undefined) {
          column = this.#columns.push(offering) - 1;
          byText.set(text, column);
          this.#prices.push(new Float64Array(types.length).fill(Number.POSITIVE_INFINITY));
        }
        const prices = this.#prices[column];
        if (prices !== undefined && price < (prices[t] ?? 0)) prices[t] = price;
      }
    });
  }

  /**
   * The columns: one offering that stands for the column, and prices by type (USD per hour; Infinity without an
   * offering).
   */
  get columns(): readonly { readonly offering: Offering; readonly prices: Float64Array }[] {
    return this.#columns.map((offering, c) => ({ offering, prices: this.#prices[c] ?? new Float64Array(this.#size) }));
  }

  /** Prices of the offerings that some requirements allow. */
  prices(requirements: OfferingRequirements): Prices {
    const byType = new Float64Array(this.#size).fill(Number.POSITIVE_INFINITY);
    const byCapacityType = new Map<string, Bitset>();
    this.#columns.forEach((offering, c) => {
      const prices = this.#prices[c];
      if (prices === undefined || !admits(requirements, offering)) return;
      const bits = byCapacityType.get(offering.capacityType) ?? emptyBitset(this.#size);
      byCapacityType.set(offering.capacityType, bits);
      for (let t = 0; t < prices.length; t++) {
        const price = prices[t] ?? Number.POSITIVE_INFINITY;
        if (price === Number.POSITIVE_INFINITY) continue;
        setBit(bits, t);
        if (price < (byType[t] ?? 0)) byType[t] = price;
      }
    });
    const order: number[] = [];
    for (let t = 0; t < byType.length; t++) if (byType[t] !== Number.POSITIVE_INFINITY) order.push(t);
    order.sort((a, b) => (byType[a] ?? 0) - (byType[b] ?? 0) || a - b);
    return { byType, order, byCapacityType: [...byCapacityType] };
  }
}
