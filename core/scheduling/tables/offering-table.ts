import type { InstanceType, Offering } from "../../model/instance-type.ts";
import { admitsOffering, type OfferingRequirements } from "../../requirements/offerings.ts";
import { type Bitset, emptyBitset, setBit } from "./bitset.ts";
import { risingOrder } from "./rising-order.ts";

/** Prices of the offerings that a requirement set allows. */
export interface Prices {
  /** USD per hour of the cheapest available offering by type; Infinity without one. */
  readonly byType: Float64Array;
  /** Indexes of types with an offering, cheapest first, then by name. */
  readonly order: readonly number[];
  /** Capacity types with an available offering, each with its instance types. */
  readonly byCapacityType: readonly (readonly [string, Bitset])[];
}

/** Whether requirements allow an offering of which there is something left. Availability is not checked. */
export function admits(requirements: OfferingRequirements, offering: Offering): boolean {
  return !isUsedUp(offering) && admitsOffering(requirements, offering);
}

/** Whether the offering is a reservation with no instance left. */
export function isUsedUp({ capacityType, reservationCapacity }: Offering): boolean {
  return capacityType === "reserved" && reservationCapacity !== undefined && reservationCapacity <= 0;
}

/** Whether two offerings of a zone differ in nothing that requirements ask for, and so are of one column. */
function isAlike(column: Offering | undefined, offering: Offering): boolean {
  return (
    column !== undefined &&
    column.capacityType === offering.capacityType &&
    column.zoneId === offering.zoneId &&
    column.reservationId === offering.reservationId &&
    column.reservationType === offering.reservationType &&
    column.reservationInterruptible === offering.reservationInterruptible
  );
}

/**
 * Available offerings as a table: a row for each instance type, a column for each zone, capacity type and reservation.
 */
export class OfferingTable {
  readonly #size: number;
  /** One offering of each column, which represents all of them. */
  readonly #columns: Offering[] = [];
  /** By column and type: USD per hour; Infinity without an offering. */
  readonly #prices: Float64Array[] = [];

  constructor(types: readonly InstanceType[]) {
    this.#size = types.length;
    const byZone = new Map<string, number[]>();
    types.forEach(({ offerings }, t) => {
      for (const offering of offerings) {
        if (!offering.available || isUsedUp(offering)) continue;
        const { zone, price } = offering;
        const inZone = byZone.get(zone) ?? [];
        if (inZone.length === 0) byZone.set(zone, inZone);
        // A zone has few columns, and comparing them is faster than a text for each of the thousands of offerings.
        let column = inZone.find((c) => isAlike(this.#columns[c], offering));
        if (column === undefined) {
          column = this.#columns.push(offering) - 1;
          inZone.push(column);
          this.#prices.push(new Float64Array(types.length).fill(Number.POSITIVE_INFINITY));
        }
        const prices = this.#prices[column];
        if (prices !== undefined && price < (prices[t] ?? 0)) prices[t] = price;
      }
    });
  }

  /**
   * The columns: one offering that represents the column, and prices by type (USD per hour; Infinity without an
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
    return { byType, order: risingOrder(order, byType), byCapacityType: [...byCapacityType] };
  }
}
