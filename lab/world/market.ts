import type { CapacityType } from "#core/model/instance-type.ts";
import type { Catalogue } from "#core/offerings/catalogue.ts";

/** What EC2 asks for instances now; the functions may know older prices. */
export interface Market {
  catalogue(): Catalogue;
  /** USD per hour; undefined where the region does not offer it. */
  priceOf(instanceType: string, zone: string, capacityType: CapacityType): number | undefined;
  moveSpotPrices(spot: NonNullable<Catalogue["spot"]>): void;
}

export function simulatedMarket(start: Catalogue): Market {
  let current = start;
  return {
    catalogue: () => current,
    priceOf(instanceType, zone, capacityType) {
      // A reservation is paid for whether an instance runs in it or not.
      if (capacityType === "reserved") return 0;
      if (capacityType === "on-demand" || !current.spot) return current.onDemand[instanceType];
      return current.spot[instanceType]?.[zone];
    },
    moveSpotPrices(spot) {
      current = { ...current, spot };
    },
  };
}
