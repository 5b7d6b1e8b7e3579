import type { InstanceType, Offering } from "../model/instance-type.ts";

/** An instance type that the NodeClaim may be launched as, with its available and compatible offerings. */
export interface LaunchCandidate {
  readonly type: InstanceType;
  readonly offerings: readonly Offering[];
}
