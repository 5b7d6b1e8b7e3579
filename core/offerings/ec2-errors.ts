import type { CapacityType } from "../model/instance-type.ts";
import { quotaLink, vcpuQuota } from "./quotas.ts";

/** What EC2 said about a launch. */
interface SaidError {
  readonly code: string;
  readonly message: string;
}

/** What the error is about, as far as it is known. */
interface Subject {
  readonly instanceType?: string | undefined;
  /** A zone or a region. */
  readonly zone?: string | undefined;
  readonly capacityType?: CapacityType | undefined;
}

/**
 * Whose fault a code is. "capacity": EC2 has no machine for now. "quota", "account", "permission": the account.
 * "addresses": the subnet. "configuration": the EC2NodeClass or the NodePool. "passing": it works when it is repeated.
 */
type ErrorKind = "capacity" | "quota" | "account" | "permission" | "addresses" | "configuration" | "passing" | "unknown";

interface Row {
  readonly pattern: RegExp;
  readonly kind: ErrorKind;
  readonly remedy: string | ((subject: Subject, said: SaidError) => string);
}

const row = (kind: ErrorKind, pattern: RegExp, remedy: Row["remedy"]): Row => ({ kind, pattern, remedy });

const OTHERS = "allow more types, zones or capacity types to be served sooner";
const MAKE_SPOT_ROLE =
  "make the service-linked role of spot: aws iam create-service-linked-role --aws-service-name spot.amazonaws.com; until then only on-demand machines are launched";
const NOT_TAKEN = "check the EC2NodeClass: EC2 does not take one of its values";
const OWN_POLICIES = "the stack's policies allow launches with its own tags, templates and node roles only";

/**
 * What to do about each code. The first match counts; the last rows are those of whole groups of codes
 * (AWS, Amazon EC2 API Reference, "Error codes for the Amazon EC2 API").
 */
const ROWS: readonly Row[] = [
  row("permission", /ServiceLinkedRole/, MAKE_SPOT_ROLE),
  row("capacity", /^(?:InsufficientInstanceCapacity|UnfulfillableCapacity|InsufficientCapacity\w*|InsufficientHostCapacity)$/, OTHERS),
  row(
    "capacity",
    /^InsufficientVolumeCapacity$/,
    "EBS has no room for the volume there; allow more zones, or change volumeType in spec.blockDeviceMappings",
  ),
  row("capacity", /^SpotMaxPriceTooLow$/, "the spot price has risen; allow on-demand, or more types and zones"),
  row(
    "capacity",
    /CapacityReservation|^ReservationCapacityExceeded$|^InsufficientReservedInstances?Capacity$/,
    "raise the size of the capacity reservation or renew it, or allow on-demand or spot",
  ),
  row("quota", /^MaxSpotInstanceCountExceeded$/, (subject) => vcpuText({ ...subject, capacityType: "spot" })),
  row("quota", /^VcpuLimitExceeded$|^InstanceLimitExceeded$/, vcpuText),
  row("quota", /^MaxFleetCountExceeded$/, ({ zone }) => raise("the quota of EC2 Fleets", quotaLink(zone))),
  row("quota", /^(?:Volume|MaxIOPS|\w*Snapshot)\w*Limit(?:Exceeded)?$/, ({ zone }) =>
    raise("the quota of EBS volumes or of their IOPS", quotaLink(zone)?.replace("/ec2/", "/ebs/")),
  ),
  row("addresses", /^InsufficientFreeAddressesInSubnet$|^InsufficientAddressCapacity$|^PrivateIpAddressLimitExceeded$/, addressText),
  row(
    "configuration",
    /^Unsupported|^VolumeTypeNotAvailableInZone$/,
    "the zone does not offer this instance type with what the EC2NodeClass asks for (tenancy, image, options); allow more types or zones",
  ),
  row(
    "account",
    /^PendingVerification$/,
    "AWS verifies the account, which takes minutes to a few hours, and mails when it is done; launches are retried",
  ),
  row("account", /^OptInRequired$/, optInText),
  row("account", /^Blocked$|^AccountDisabled$/, "AWS has blocked the account; ask AWS Support"),
  row("configuration", /^InvalidParameterCombination$/, ({ instanceType }, { message }) =>
    /free tier/i.test(message)
      ? "the account is on the free plan; upgrade its plan, or allow only free-tier instance types"
      : `change the options of the EC2NodeClass that do not go together${instanceType === undefined ? "" : ` on ${instanceType}`}`,
  ),
  row("permission", /^(?:UnauthorizedOperation|AccessDenied\w*|OperationNotPermitted)$/, (_, { message }) =>
    /iam:PassRole/i.test(message)
      ? "let the functions pass the node role: name it in nodeRoles of the settings file"
      : `${OWN_POLICIES}; look for a service control policy or a permissions boundary that denies it (aws sts decode-authorization-message)`,
  ),
  row(
    "permission",
    /^AuthFailure/,
    "the account may not use what the request names (image, subnet, key); share it with the account, or name another",
  ),
  row(
    "permission",
    /^(?:InvalidClientTokenId|IncompleteSignature|SignatureDoesNotMatch|ExpiredToken\w*|\w+\.RequestHasExpired|RequestExpired|MissingAuthenticationToken)$/,
    "the credentials of the functions are refused; check the clock, and the role's trust policy",
  ),
  row("configuration", /^InvalidAMI/, "check spec.amiSelectorTerms: the image is gone, or not shared with the account"),
  row("configuration", /^InvalidSubnet/, "check spec.subnetSelectorTerms: the subnet is gone"),
  row(
    "configuration",
    /^InvalidSecurityGroup|^InvalidGroup/,
    "check spec.securityGroupSelectorTerms: each group must exist in the VPC of the subnets",
  ),
  row("configuration", /^InvalidIamInstanceProfile/, "check spec.role or spec.instanceProfile of the EC2NodeClass"),
  row(
    "configuration",
    /^InvalidSnapshot|^InvalidBlockDevice|^InvalidVolume|^UnknownVolumeType|^EncryptedVolumesNotSupported/,
    "check spec.blockDeviceMappings of the EC2NodeClass",
  ),
  row(
    "configuration",
    /KmsKey|^CustomerKey/,
    "check kmsKeyID in spec.blockDeviceMappings: the key must exist, be enabled, and admit its users",
  ),
  row("configuration", /^InvalidUserData/, "check spec.userData of the EC2NodeClass: at most 16 KB"),
  row(
    "configuration",
    /^InvalidPlacementGroup/,
    "check spec.placementGroupSelector of the EC2NodeClass: the group must exist and have room",
  ),
  row("passing", /^InvalidLaunchTemplate/, "the launch template was removed; it is made again with the next attempt"),
  row(
    "passing",
    /^(?:RequestLimitExceeded|Throttl\w*|RequestThrottled\w*|InternalError|InternalFailure|Unavailable|ServiceUnavailable|RequestTimeout|Idempotent\w+|ConcurrentTagAccess|IncorrectInstanceState)$/,
    "this passes; the launch is retried by itself",
  ),
  row("quota", /LimitExceeded|CountExceeded|QuotaExceeded/, ({ zone }) => raise("the quota that it names", quotaLink(zone))),
  row("configuration", /NotFound|DoesNotExist|Unknown|NotSpecified/, "check the EC2NodeClass: it names what is not there"),
  row("configuration", /^(?:Invalid|Missing|Malformed|Validation|NonEBS|Zones|Disallowed|Duplicate)/, NOT_TAKEN),
];

const UNKNOWN: Row = { pattern: /$/, kind: "unknown", remedy: "" };

const rowOf = ({ code }: Pick<SaidError, "code">): Row => ROWS.find(({ pattern }) => pattern.test(code)) ?? UNKNOWN;

export const kindOfError = (said: Pick<SaidError, "code">): ErrorKind => rowOf(said).kind;

/** What to do about an error; "" for a code that nothing is known of. */
export function remedyFor(said: SaidError, subject: Subject = {}): string {
  const { remedy } = rowOf(said);
  return typeof remedy === "string" ? remedy : remedy(subject, said);
}

/** What to do about a text of errors, "CODE: MESSAGE; CODE: MESSAGE": the first remedy that is known, or "". */
export function remedyForText(text: string, subject: Subject = {}): string {
  for (const [, code = "", message = ""] of text.matchAll(/(?:^|; )([A-Z][\w.]+): ((?:(?!; [A-Z][\w.]+: ).)*)/gs)) {
    const remedy = remedyFor({ code, message }, subject);
    if (remedy !== "") return remedy;
  }
  return "";
}

/** What EC2 said: "EC2 says VcpuLimitExceeded: You have requested …". */
export function saidText({ code, message }: SaidError): string {
  const text = message.replace(/\.$/, "");
  return `EC2 says ${code}${text === "" ? "" : `: ${text}`}`;
}

function vcpuText({ instanceType, zone, capacityType }: Subject): string {
  const isSpot = capacityType === "spot";
  const quota = instanceType === undefined ? undefined : vcpuQuota(instanceType, isSpot);
  const of = isSpot ? "spot instances" : "on-demand instances";
  return quota === undefined
    ? raise(`the account's vCPU quota of ${of}`, quotaLink(zone))
    : raise(`the quota "${quota.name}" (${quota.code}, in vCPUs)`, quotaLink(zone, quota.code));
}

function raise(what: string, link: string | undefined): string {
  return `raise ${what} in Service Quotas${link === undefined ? "" : `: ${link}`}`;
}

function addressText({ zone }: Subject, { message }: SaidError): string {
  const subnets = [...new Set([...(message.match(/subnet-[0-9a-z]+/g) ?? []), ...(zone?.startsWith("subnet-") ? [zone] : [])])];
  const which = subnets.length === 0 ? "the subnet" : subnets.join(", ");
  return `${which} has no free addresses: add a subnet to spec.subnetSelectorTerms, a secondary CIDR block to the VPC, or free addresses`;
}

function optInText(_: Subject, { message }: SaidError): string {
  const link = /https?:\/\/\S+[^\s.,]/.exec(message)?.[0];
  return `accept the terms of the image in AWS Marketplace${link === undefined ? "" : ` (${link})`}, or subscribe the account to EC2 in this region`;
}
