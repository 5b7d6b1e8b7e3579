import type { FleetResult } from "../model/fleet.ts";

/** What EC2 says of one offering that it did not give. */
export type FleetError = FleetResult["errors"][number];

export interface LaunchFailure {
  /** InsufficientCapacity ends the claim, so that its pods are planned anew; after CreateError it is tried again. */
  readonly kind: "InsufficientCapacity" | "CreateError";
  readonly reason: string;
  readonly message: string;
}

/** Codes that say so (launch.md §6). */
const UNFULFILLABLE = new Set([
  "InsufficientInstanceCapacity",
  "MaxSpotInstanceCountExceeded",
  "VcpuLimitExceeded",
  "UnfulfillableCapacity",
  "Unsupported",
  "InsufficientFreeAddressesInSubnet",
  "MaxFleetCountExceeded",
  "ReservationCapacityExceeded",
]);
/** Of a placement group of strategy spread: seven machines a zone, whatever they are. EC2 says it in words alone. */
export function isSpreadLimit(message: string): boolean {
  return message.includes("limit of instances in this spread placement group");
}

/** "Not here, not now"; also of reservations that are full, or that have ended since they were looked up. */
export function isUnfulfillable({ code, message }: FleetError): boolean {
  return UNFULFILLABLE.has(code) || isSpreadLimit(message) || /^(Invalid|Insufficient)?CapacityReservation/.test(code);
}

/** Spot is out of reach as a whole: the account lacks EC2's role for it, and the caller may not make it. */
export const SPOT_ROLE_MISSING = "AuthFailure.ServiceLinkedRoleCreationNotPermitted";

/** Why a request that gave no machine failed. */
export function failureOf(errors: readonly FleetError[]): LaunchFailure {
  const message =
    [...new Set(errors.map(({ code, message }) => `${code}: ${message}`))].join("; ") ||
    "CreateFleet returned neither an instance nor an error";
  const capacity = errors.length > 0 && errors.every((error) => isUnfulfillable(error) || error.code === SPOT_ROLE_MISSING);
  return { kind: capacity ? "InsufficientCapacity" : "CreateError", reason: failureReason(message), message };
}

/** First match wins; the order is Karpenter's (launch.md §6). */
const REASONS: readonly (readonly [reason: string, pattern: RegExp])[] = [
  ["SpotSLRCreationFailed", /ServiceLinkedRoleCreationNotPermitted/],
  ["AMIAuthorizationFailure", /not authorized for images/i],
  ["Unauthorized", /UnauthorizedOperation|AccessDenied|not authorized/i],
  ["SecurityGroupSubnetVPCMismatch", /security group .*(different|belong).*(network|vpc)/i],
  ["InstanceProfileNameInvalid", /iamInstanceProfile|Invalid IAM Instance Profile/i],
  ["LaunchTemplateNotFound", /InvalidLaunchTemplateName\.NotFound|InvalidLaunchTemplateId\.NotFound/],
  ["UserDataSizeLimitExceeded", /user data is limited|InvalidUserData\.Malformed/i],
  ["InvalidAMIID", /InvalidAMIID\.Malformed/],
  ["AMINotFound", /InvalidAMIID\.NotFound/],
  ["RequestLimitExceeded", /RequestLimitExceeded/],
  ["InternalError", /InternalError/],
  ["FreeTierIneligible", /free tier/i],
  ["FleetQuotaExceeded", /MaxFleetCountExceeded/],
  ["AccountPendingVerification", /PendingVerification/],
  ["SpotQuotaExceeded", /MaxSpotInstanceCountExceeded/],
  ["VCPULimitExceeded", /VcpuLimitExceeded/],
  ["InsufficientFreeAddressesInSubnet", /InsufficientFreeAddressesInSubnet/],
];

/** The word for an error text that `kubectl describe` shows; LaunchFailed when nothing is known of it. */
export function failureReason(message: string): string {
  return REASONS.find(([, pattern]) => pattern.test(message))?.[0] ?? "LaunchFailed";
}
