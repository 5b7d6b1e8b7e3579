import type { CapacityType } from "./instance-type.ts";

/** An offering that had no capacity: not tried again until it expires. Read with the time compared: TTL deletion lags by hours. */
export interface UnavailableOffering {
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: CapacityType;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}
