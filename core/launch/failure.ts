import type { FleetResult } from "../model/fleet.ts";

/** EC2's error for one offering that it did not give. */
type FleetError = FleetResult["errors"][number];

export interface LaunchFailure {
  /** InsufficientCapacity removes the NodeClaim, so that its pods are planned again; CreateError is retried. */
  readonly kind: "InsufficientCapacity" | "CreateError";
  readonly reason: string;
  readonly message: string;
}

/** EC2's codes for missing capacity (karpenter-provider-aws: pkg/errors/errors.go, unfulfillableCapacityErrorCodes). */
const UNFULFILLABLE = new Set([
  "InsufficientInstanceCapacity",
  "MaxSpotInstanceCountExceeded",
  "VcpuLimitExceeded",
  "UnfulfillableCapacity",
  "Unsupported",
  "InsufficientFreeAddressesInSubnet",
  "MaxFleetCountExceeded",
  "ReservationCapacityExceeded",
  "SpotMaxPriceTooLow",
]);
/**
 * A placement group of strategy spread takes seven instances per zone, of any type. EC2 says so only in the message.
 */
export function isSpreadLimit(message: string): boolean {
  return message.includes("limit of instances in this spread placement group");
}

/** No capacity for this offering now; includes reservations that are full or that ended after the lookup. */
export function isUnfulfillable({ code, message }: FleetError): boolean {
  return UNFULFILLABLE.has(code) || isSpreadLimit(message) || /^(Invalid|Insufficient)?CapacityReservation/.test(code);
}

/** Spot is unavailable as a whole: the account lacks EC2's service-linked role, and the caller may not create it. */
export const SPOT_ROLE_MISSING = "AuthFailure.ServiceLinkedRoleCreationNotPermitted";

/** Why a CreateFleet without an instance failed. */
export function failureOf(errors: readonly FleetError[]): LaunchFailure {
  const message =
    [...new Set(errors.map(({ code, message }) => `${code}: ${message}`))].join("; ") ||
    "CreateFleet returned neither an instance nor an error";
  const capacity = errors.length > 0 && errors.every((error) => isUnfulfillable(error) || error.code === SPOT_ROLE_MISSING);
  return { kind: capacity ? "InsufficientCapacity" : "CreateError", reason: failureReason(message), message };
}

/** The first match wins; the order is Karpenter's (karpenter-provider-aws: pkg/errors/errors.go, ToReasonMessage). */
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

/** The condition reason for an error text; LaunchFailed, or `otherwise`, for an unknown text. */
export function failureReason(message: string, otherwise = "LaunchFailed"): string {
  return REASONS.find(([, pattern]) => pattern.test(message))?.[0] ?? otherwise;
}
