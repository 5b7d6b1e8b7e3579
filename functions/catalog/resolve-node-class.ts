import { isTrue } from "#core/model/conditions.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import { type AmiParameter, amiParameters, unsupportedAlias } from "#core/node-class/ami-parameters.ts";
import { resolveReservations } from "#core/node-class/capacity-reservations.ts";
import { aliasOf } from "#core/node-class/family.ts";
import { instanceProfileOf } from "#core/node-class/instance-profile.ts";
import { type FoundImage, resolveAmis } from "#core/node-class/resolve-amis.ts";
import type { Failed, Findings } from "#core/node-class/status.ts";
import type { CatalogueType } from "#core/offerings/catalogue.ts";
import type { CloudInventory } from "#core/ports/cloud-inventory.ts";
import type { Settings } from "../shared/cluster-deps.ts";

type Part = "amis" | "capacityReservations" | "placementGroup" | "subnets" | "securityGroups" | "instanceProfile";

/**
 * The parts of an EC2NodeClass that AWS is asked about: the condition that is True once the part is resolved, and how
 * long the answer is used. A failed part is asked about again after 2, 4, 8, 16 and 30 s, then after a minute each
 * time.
 */
const PARTS: Readonly<Record<Part, { readonly condition: string; readonly periodMs: number }>> = {
  amis: { condition: "AMIsReady", periodMs: 5 * 60_000 },
  capacityReservations: { condition: "CapacityReservationsReady", periodMs: 60_000 },
  placementGroup: { condition: "PlacementGroupReady", periodMs: 5 * 60_000 },
  subnets: { condition: "SubnetsReady", periodMs: 60_000 },
  securityGroups: { condition: "SecurityGroupsReady", periodMs: 5 * 60_000 },
  instanceProfile: { condition: "InstanceProfileReady", periodMs: 15 * 60_000 },
};
/** A sweep that runs slightly early must not put a part off by a whole minute. */
const EARLY_SWEEP_TOLERANCE_MS = 5_000;

/**
 * What a warm function remembers of one EC2NodeClass: when each part was last resolved, and in how many passes on end
 * one or more failed. Losing it only costs calls to AWS.
 */
export interface ResolvedParts {
  readonly generation: number | undefined;
  readonly at: Readonly<Partial<Record<Part, number>>>;
  readonly failures?: number;
}

export interface LookUpContext {
  readonly inventory: CloudInventory;
  readonly cluster: { readonly name: string; readonly serviceCidr?: string };
  readonly region: string;
  /**
   * Instances of the cluster in each capacity reservation; undefined while the feature gate ReservedCapacity is off.
   */
  readonly standing: (() => Promise<ReadonlyMap<string, number>>) | undefined;
  /** The region's instance types. */
  readonly types: readonly CatalogueType[];
  readonly settings: Pick<Settings, "isolatedVpc" | "amiRefreshMs" | "subnetRefreshMs" | "securityGroupRefreshMs" | "reservedEnis">;
  /** The API server's version, such as "1.36"; read only where it is needed. */
  readonly kubernetesVersion: () => Promise<string>;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Parts that must be resolved now: never resolved, resolved for another generation, failed, or too old. The settings
 * AMI_REFRESH_INTERVAL, SUBNET_REFRESH_INTERVAL and SECURITY_GROUP_REFRESH_INTERVAL make answers last longer.
 */
export function dueParts(
  { metadata, status }: EC2NodeClass,
  looked: ResolvedParts | undefined,
  {
    now,
    settings,
  }: Pick<LookUpContext, "now"> & { readonly settings: Pick<Settings, "amiRefreshMs" | "subnetRefreshMs" | "securityGroupRefreshMs"> },
): ReadonlySet<Part> {
  const { amiRefreshMs: amis, subnetRefreshMs: subnets, securityGroupRefreshMs: securityGroups } = settings;
  const least: Partial<Record<Part, number>> = { amis, subnets, securityGroups };
  const parts = Object.keys(PARTS) as Part[];
  if (looked === undefined || looked.generation !== metadata.generation) return new Set(parts);
  return new Set(
    parts.filter((part) => {
      const { condition, periodMs } = PARTS[part];
      const wait = isTrue(status?.conditions, condition) ? Math.max(periodMs, least[part] ?? 0) : Math.min(periodMs, 60_000);
      return now - (looked.at[part] ?? Number.NEGATIVE_INFINITY) >= wait - EARLY_SWEEP_TOLERANCE_MS;
    }),
  );
}

/** Resolves the parts that are due. A part that fails is returned as an error; the others are resolved all the same. */
export async function resolveParts(nodeClass: EC2NodeClass, due: ReadonlySet<Part>, context: LookUpContext): Promise<Findings> {
  const { inventory, cluster } = context;
  const { subnetSelectorTerms, securityGroupSelectorTerms } = nodeClass.spec;
  const part = async <T>(name: Part, read: () => Promise<T>): Promise<T | Failed | undefined> => {
    if (!due.has(name)) return undefined;
    try {
      return await read();
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  };
  const [amis, capacityReservations, placementGroup, subnets, securityGroups, instanceProfile] = await Promise.all([
    part("amis", () => lookUpAmis(nodeClass, context)),
    part("capacityReservations", () => lookUpReservations(nodeClass, context)),
    part("placementGroup", () => lookUpPlacementGroup(nodeClass, context)),
    part("subnets", () => inventory.subnets(subnetSelectorTerms)),
    part("securityGroups", () => inventory.securityGroups(securityGroupSelectorTerms)),
    part("instanceProfile", () => lookUpProfile(nodeClass, context)),
  ]);
  return {
    ...(amis !== undefined && { amis }),
    ...(capacityReservations !== undefined && { capacityReservations }),
    ...(placementGroup !== undefined && { placementGroup }),
    ...(subnets !== undefined && { subnets }),
    ...(securityGroups !== undefined && { securityGroups }),
    ...(instanceProfile !== undefined && { instanceProfile }),
    ...(cluster.serviceCidr !== undefined && { serviceCidr: cluster.serviceCidr }),
  };
}

/** The errors of the parts that failed. */
export const failuresIn = (findings: Findings): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(findings).flatMap(([part, found]) => (typeof found === "object" && "error" in found ? [[part, found.error]] : [])),
  );

async function lookUpAmis({ spec }: EC2NodeClass, { inventory, kubernetesVersion, now }: LookUpContext) {
  const alias = aliasOf(spec);
  if (alias === undefined) {
    const images = await inventory.images(spec.amiSelectorTerms);
    return resolveAmis(
      images.map((image) => ({ image, variants: [[]] })),
      now,
    );
  }
  const version = await kubernetesVersion();
  const unsupported = unsupportedAlias(alias, version);
  if (unsupported !== undefined) return { unsupported };
  return resolveAmis(await imagesOf(amiParameters(alias, version), inventory), now);
}

/** The images that the existing SSM parameters name. */
async function imagesOf(parameters: readonly AmiParameter[], inventory: CloudInventory): Promise<readonly FoundImage[]> {
  const values = await Promise.all(parameters.map(({ name }) => inventory.parameter(name)));
  const ids = [...new Set(values.filter((value) => value !== undefined))];
  if (ids.length === 0) return [];
  const images = new Map((await inventory.images(ids.map((id) => ({ id })))).map((image) => [image.id, image]));
  return parameters.flatMap(({ variants }, i) => {
    const image = images.get(values[i] ?? "");
    return image ? [{ image, variants }] : [];
  });
}

async function lookUpReservations({ spec }: EC2NodeClass, { inventory, standing, now }: LookUpContext) {
  if (standing === undefined) return "off";
  const terms = spec.capacityReservationSelectorTerms ?? [];
  if (terms.length === 0) return [];
  // Own instances are counted first: an instance that is launched in between is then counted once too little, never
  // twice.
  const held = await standing();
  return resolveReservations(await inventory.capacityReservations(terms), held, now);
}

async function lookUpPlacementGroup({ spec }: EC2NodeClass, { inventory }: LookUpContext) {
  if (spec.placementGroupSelector === undefined) return "none";
  return (await inventory.placementGroup(spec.placementGroupSelector)) ?? "missing";
}

async function lookUpProfile(nodeClass: EC2NodeClass, { inventory, cluster, region, settings }: LookUpContext): Promise<string> {
  const { role, instanceProfile } = nodeClass.spec;
  if (instanceProfile !== undefined) return instanceProfile;
  if (role === undefined) throw new Error("neither spec.role nor spec.instanceProfile is set");
  if (settings.isolatedVpc)
    throw new Error("ISOLATED_VPC is set, so IAM cannot be reached to make a profile for spec.role: name spec.instanceProfile instead");
  return inventory.ensureInstanceProfile(instanceProfileOf(nodeClass, role, cluster.name, region));
}
