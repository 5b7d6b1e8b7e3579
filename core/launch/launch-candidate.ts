import type { InstanceType, Offering } from "../model/instance-type.ts";

/** A type that the claim may be launched as, with the offerings that are left for it: available and compatible. */
export interface LaunchCandidate {
  readonly type: InstanceType;
  readonly offerings: readonly Offering[];
}
