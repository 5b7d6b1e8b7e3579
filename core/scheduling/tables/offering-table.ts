import type { InstanceType, Offering } from "../../model/instance-type.ts";
import { CAPACITY_TYPE, ZONE, ZONE_ID } from "../../model/labels.ts";
import { allowsAbsent, has, type Requirement } from "../../requirements/requirement.ts";
import type { Requirements } from "../../requirements/requirements.ts";
import { type Bitset, emptyBitset, setBit } from "./bitset.ts";

export const RESERVATION_ID = "karpenter.k8s.aws/capacity-reservation-id";
/** Labels by which a set can choose between offerings. */
export const OFFERING_KEYS = [ZONE, CAPACITY_TYPE, ZONE_ID, RESERVATION_ID];

/** What a requirement set says about each of OFFERING_KEYS. */
export type OfferingWish = readonly (Requirement | undefined)[];

/** What a requirement set says about offerings. */
export function wishOf(requirements: Requirements): OfferingWish {
  return OFFERING_KEYS.map((key) => requirements.get(key));
}

/** Prices that a requirement set sees. */
export interface Prices {
  /** USD per hour of the cheapest available offering by type; Infinity where none is. */
  readonly byType: Float64Array;
  /** Types with an offering, cheapest first, then by name. */
  readonly order: readonly number[];
  /** Capacity types in which some type can be had, with those types. */
  readonly byCapacityType: readonly (readonly [string, Bitset])[];
}

/** Whether an offering is one that the wish admits; availability is not looked at. */
export function admits([zone, capacityType, zoneId, reservation]: OfferingWish, offering: Offering): boolean {
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

/** Offerings of all types as a table: a row for each type, a column for each place and way to buy, of which there are few. */
export class OfferingTable {
  readonly #size: number;
  /** One offering for each column. */
  readonly #columns: Offering[] = [];
  /** Price by column and type; Infinity where it cannot be had. */
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

  /** Each place and way to buy, as one offering that is typical of it, and what it costs by type (USD per hour; Infinity where it cannot be had). */
  get columns(): readonly { readonly offering: Offering; readonly prices: Float64Array }[] {
    return this.#columns.map((offering, c) => ({ offering, prices: this.#prices[c] ?? new Float64Array(this.#size) }));
  }

  prices(wish: OfferingWish): Prices {
    const byType = new Float64Array(this.#size).fill(Number.POSITIVE_INFINITY);
    const byCapacityType = new Map<string, Bitset>();
    this.#columns.forEach((offering, c) => {
      const prices = this.#prices[c];
      if (prices === undefined || !admits(wish, offering)) return;
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
