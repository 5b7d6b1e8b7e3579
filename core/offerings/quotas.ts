/** A vCPU quota of EC2, as Service Quotas names it. */
interface Quota {
  readonly name: string;
  readonly code: string;
}

/** Instance families that share a quota, by the start of their names, and their quotas: on demand, and spot. */
interface FamilyGroup {
  readonly family: RegExp;
  readonly onDemand: Quota;
  readonly spot?: Quota;
}

const group = (family: RegExp, name: string, onDemand: string, spot?: string): FamilyGroup => ({
  family,
  onDemand: { name: `Running On-Demand ${name} instances`, code: onDemand },
  ...(spot !== undefined && { spot: { name: `All ${name} Spot Instance Requests`, code: spot } }),
});

/**
 * The first match counts (AWS, "Amazon EC2 service quotas": On-Demand Instance quotas, Spot Instance quotas). HPC and
 * High Memory instances have no spot quota.
 */
const GROUPS: readonly FamilyGroup[] = [
  group(/^inf\d/, "Inf", "L-1945791B", "L-B5D1601B"),
  group(/^trn\d/, "Trn", "L-2C3B7624", "L-6B0D517C"),
  group(/^hpc\d/, "HPC", "L-F7808C92"),
  group(/^u(?:-|\d)/, "High Memory", "L-43DA4232"),
  group(/^dl\d/, "DL", "L-6E869C2A", "L-85EED4F7"),
  group(/^(?:vt|gr?)\d/, "G and VT", "L-DB2E81BA", "L-3819A6DF"),
  group(/^p\d/, "P", "L-417A185B", "L-7212CCBC"),
  group(/^f\d/, "F", "L-74FC7D96", "L-88CF9481"),
  group(/^x\d/, "X", "L-7295265B", "L-E3A00192"),
  group(/^(?!mac)[acdhimrtz][a-z]*\d/, "Standard (A, C, D, H, I, M, R, T, Z)", "L-1216C47A", "L-34B43A08"),
];

/** The vCPU quota that bounds an instance type; undefined for a family without one, such as Mac. */
export function vcpuQuota(instanceType: string, isSpot: boolean): Quota | undefined {
  const found = GROUPS.find(({ family }) => family.test(instanceType));
  return isSpot ? found?.spot : found?.onDemand;
}

/** By the start of a region's name: the console of its partition. Other partitions have no public console. */
const CONSOLES: readonly (readonly [RegExp, string])[] = [
  [/^cn-/, "console.amazonaws.cn"],
  [/^us-gov-/, "console.amazonaws-us-gov.com"],
  [/^eusc-/, "console.amazonaws-eusc.eu"],
  [/^(?:af|ap|ca|eu|il|me|mx|sa|us)-(?!iso|gov)/, "console.aws.amazon.com"],
];

/**
 * Where the console shows a quota of EC2, or all of them without `code`. `zone` may be a zone or a region; undefined
 * where no console is known.
 */
export function quotaLink(zone: string | undefined, code?: string): string | undefined {
  const region = regionOf(zone ?? "");
  const host = CONSOLES.find(([pattern]) => pattern.test(region))?.[1];
  return host && `https://${region}.${host}/servicequotas/home/services/ec2/quotas${code === undefined ? "" : `/${code}`}`;
}

/** "us-west-2" of "us-west-2a", of "us-west-2-lax-1a", and of itself. */
const regionOf = (zone: string): string => /^[a-z]+(?:-[a-z]+)+-\d+/.exec(zone)?.[0] ?? "";
