import type { InstanceType } from "../model/instance-type.ts";
import type { ResourceList } from "../model/kubernetes.ts";
import {
  CAPACITY_RESERVATION_ID,
  CAPACITY_RESERVATION_INTERRUPTIBLE,
  CAPACITY_RESERVATION_TYPE,
  CAPACITY_TYPE,
  INSTANCE_TYPE,
  NODE_CLASS,
  NODE_POOL,
  ZONE,
  ZONE_ID,
} from "../model/labels.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { EC2NodeClass } from "../model/node-class.ts";
import { formatResources, parseResources, type Resources } from "../model/quantity.ts";
import type { FleetOverride, FleetRequest, FleetResult, KnownInstance, ReservationTarget, UnavailableOffering } from "../model/record.ts";
import { NODE_CLASS_HASH_KEY, NODE_CLASS_HASH_VERSION, NODE_CLASS_HASH_VERSION_KEY, nodeClassHash } from "../node-class/hash.ts";
import { allocatableOf } from "../offerings/overhead.ts";
import { efaOnly } from "../offerings/suits.ts";
import { ANY, fullSubnetMark, reservationMark, UNAVAILABLE_MS } from "../offerings/unavailable.ts";

export const INSTANCE_PROFILE_ANNOTATION = "karpenter.k8s.aws/instance-profile-name";

/** What a claim learns from its instance (launch.md §8). */
export interface Launched {
  readonly providerID: string;
  readonly imageID: string;
  readonly capacity: ResourceList;
  readonly allocatable: ResourceList;
  /** The claim's own labels win over those of the cloud. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface LaunchFailure {
  /** InsufficientCapacity ends the claim, so that its pods are planned anew; after CreateError it is tried again. */
  readonly kind: "InsufficientCapacity" | "CreateError";
  readonly reason: string;
  readonly message: string;
}

export interface LaunchOutcome {
  readonly launched?: Launched;
  readonly failure?: LaunchFailure;
  /** Offerings that had no capacity, told also when an instance was obtained. */
  readonly unavailable: readonly UnavailableOffering[];
}

export interface LaunchContext {
  readonly claim: NodeClaim;
  readonly nodeClass: EC2NodeClass;
  readonly instanceTypes: readonly InstanceType[];
  /** Base64 PEM; part of the NodeClass' hash. */
  readonly caBundle?: string;
}

/** Codes that say "not here, not now" (launch.md §6). */
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
/** So are reservations that are full, or that have ended since they were looked up. */
function isUnfulfillable(code: string): boolean {
  return UNFULFILLABLE.has(code) || /^(Invalid|Insufficient)?CapacityReservation/.test(code);
}

const SPOT_ROLE_MISSING = "AuthFailure.ServiceLinkedRoleCreationNotPermitted";

/** What one CreateFleet came to. `now` in ms; marks expire three minutes later. */
export function readOutcome(request: FleetRequest, result: FleetResult, now: number, context: LaunchContext): LaunchOutcome {
  const unavailable = marksOf(request, result, now + UNAVAILABLE_MS);
  if (result.instance !== undefined) return { launched: launchedAs(knownInstance(request, result.instance), context), unavailable };
  return { failure: failureOf(result.errors), unavailable };
}

/** The machine that a request came to, with the reservation that it was launched into: EC2 does not say that one. */
export function knownInstance(request: FleetRequest, instance: KnownInstance): KnownInstance {
  if (request.capacityType !== "reserved") return instance;
  const reservation = reservationOf(request, instance);
  return { ...instance, capacityType: "reserved", ...(reservation && { reservationId: reservation.id }) };
}

/** The one reservation of a request for a type in a zone. */
function reservationOf(
  { launchTemplates }: FleetRequest,
  { instanceType, zone }: { readonly instanceType: string | undefined; readonly zone: string | undefined },
): ReservationTarget | undefined {
  const isIt = (override: FleetOverride): boolean => override.instanceType === instanceType && override.zone === zone;
  return launchTemplates.find(({ overrides }) => overrides.some(isIt))?.reservation;
}

/** The same facts for an instance found by its tags, after a crash between launch and write. */
export function launchedAs(instance: KnownInstance, { claim, nodeClass, instanceTypes, caBundle }: LaunchContext): Launched {
  const type = instanceTypes.find(({ name }) => name === instance.instanceType);
  const zoneId = nodeClass.status?.subnets?.find(({ zone }) => zone === instance.zone)?.zoneID;
  const profile = nodeClass.spec.instanceProfile ?? nodeClass.status?.instanceProfile;
  const capacity = type ? parseResources(type.capacity) : {};
  const listed = efaOnly(nodeClass.spec.networkInterfaces).length > 0;
  const wantsEfa = listed || claim.spec.resources?.requests?.["vpc.amazonaws.com/efa"] !== undefined;
  return {
    providerID: `aws:///${instance.zone}/${instance.id}`,
    imageID: instance.imageId,
    capacity: present(capacity, wantsEfa),
    allocatable: type ? present(allocatableOf(type), wantsEfa) : {},
    labels: {
      ...typeLabels(type),
      ...(type?.capacity["pods"] !== undefined && { "karpenter.k8s.aws/instance-pods": String(type.capacity["pods"]) }),
      [INSTANCE_TYPE]: instance.instanceType,
      [ZONE]: instance.zone,
      ...(zoneId && { [ZONE_ID]: zoneId }),
      [CAPACITY_TYPE]: instance.capacityType,
      ...reservationLabels(instance, nodeClass),
      "karpenter.k8s.aws/instance-tenancy": tenancyOf(claim),
      // A claim made by hand need not say it twice, and nodes are told from strangers' by it.
      [NODE_CLASS]: claim.spec.nodeClassRef.name,
      ...(claim.metadata.labels?.[NODE_POOL] && { [NODE_POOL]: claim.metadata.labels[NODE_POOL] }),
      ...claim.metadata.labels,
    },
    annotations: {
      [NODE_CLASS_HASH_KEY]: nodeClassHash(nodeClass, caBundle),
      [NODE_CLASS_HASH_VERSION_KEY]: NODE_CLASS_HASH_VERSION,
      ...(profile && { [INSTANCE_PROFILE_ANNOTATION]: profile }),
    },
  };
}

/** Labels of the reservation that a machine stands in. */
function reservationLabels({ reservationId }: KnownInstance, { status }: EC2NodeClass): Readonly<Record<string, string>> {
  if (reservationId === undefined) return {};
  const { reservationType = "default", interruptible = false } = status?.capacityReservations?.find(({ id }) => id === reservationId) ?? {};
  return {
    [CAPACITY_RESERVATION_ID]: reservationId,
    [CAPACITY_RESERVATION_TYPE]: reservationType,
    [CAPACITY_RESERVATION_INTERRUPTIBLE]: String(interruptible),
  };
}

/** Labels that the type alone decides. */
function typeLabels(type: InstanceType | undefined): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {};
  for (const { key, operator, values } of type?.requirements ?? []) {
    const [value] = values ?? [];
    if (operator === "In" && values?.length === 1 && value !== undefined && !key.includes("capacity-reservation-")) labels[key] = value;
  }
  return labels;
}

function tenancyOf(claim: NodeClaim): string {
  const wanted = claim.spec.requirements.find(({ key }) => key === "karpenter.k8s.aws/instance-tenancy");
  return wanted?.operator === "In" && !wanted.values?.includes("default") ? "dedicated" : "default";
}

/** Without zeros; EFA interfaces are there only if asked for. */
function present(resources: Resources, wantsEfa: boolean): ResourceList {
  const kept = Object.entries(resources).filter(([name, milli]) => milli !== 0 && (wantsEfa || name !== "vpc.amazonaws.com/efa"));
  return formatResources(Object.fromEntries(kept));
}

function marksOf(request: FleetRequest, { errors }: FleetResult, expiresAt: number): readonly UnavailableOffering[] {
  const zoneBySubnet = new Map(
    request.launchTemplates.flatMap(({ overrides }) => overrides.map(({ subnetId, zone }) => [subnetId, zone] as const)),
  );
  const marks = new Map<string, UnavailableOffering>();
  const mark = (offering: UnavailableOffering): void => {
    marks.set(`${offering.capacityType}:${offering.instanceType}:${offering.zone}`, offering);
  };
  for (const { code, instanceType, zone, subnetId, capacityType } of errors) {
    if (code === SPOT_ROLE_MISSING) mark({ instanceType: ANY, zone: ANY, capacityType: "spot", expiresAt });
    if (!isUnfulfillable(code)) continue;
    const where = zone ?? (subnetId === undefined ? undefined : zoneBySubnet.get(subnetId));
    const reservation = capacityType === "reserved" ? reservationOf(request, { instanceType, zone: where }) : undefined;
    if (code === "InsufficientFreeAddressesInSubnet" && subnetId !== undefined) mark(fullSubnetMark(subnetId, capacityType, expiresAt));
    else if (reservation !== undefined) mark(reservationMark(reservation.id, expiresAt));
    else if (instanceType !== undefined && where !== undefined) mark({ instanceType, zone: where, capacityType, expiresAt });
  }
  return [...marks.values()];
}

function failureOf(errors: FleetResult["errors"]): LaunchFailure {
  const message =
    [...new Set(errors.map(({ code, message }) => `${code}: ${message}`))].join("; ") ||
    "CreateFleet returned neither an instance nor an error";
  const capacity = errors.length > 0 && errors.every(({ code }) => isUnfulfillable(code) || code === SPOT_ROLE_MISSING);
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
