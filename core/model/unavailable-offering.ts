import type { CapacityType, UnavailableCause } from "./instance-type.ts";

/**
 * An offering without capacity: launches skip it until `expiresAt`. Readers compare the time themselves, because
 * DynamoDB deletes expired items hours late.
 */
export interface UnavailableOffering {
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: CapacityType;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Absent where hundreds of marks are in one document. */
  readonly cause?: UnavailableCause;
}
