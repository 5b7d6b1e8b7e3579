// Drift: whether a NodeClaim still matches its NodePool and EC2NodeClass. In come the definitions and the facts of the
// instance, out comes the reason of the condition Drifted. What is done with drifted nodes is decided in
// core/disruption/methods.

import { fromRfc3339, isTrue } from "../model/conditions.ts";
import type { InstanceType } from "../model/instance-type.ts";
import { CAPACITY_TYPE, INSTANCE_TYPE, NODE_POOL_HASH, NODE_POOL_HASH_VERSION, PLACEMENT_GROUP_ID, ZONE } from "../model/labels.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { EC2NodeClass } from "../model/node-class.ts";
import type { NodePool } from "../model/node-pool.ts";
import { NODE_CLASS_HASH_KEY, NODE_CLASS_HASH_VERSION_KEY } from "../node-class/hash.ts";
import { incompatibility, labelsCompatible, requirementsFrom, requirementsFromLabels } from "../requirements/requirements.ts";

/** The reason of the condition Drifted, in Karpenter's words. */
export type DriftReason =
  | "NodePoolDrifted"
  | "RequirementsDrifted"
  | "InstanceTypeNotFound"
  | "NodeClassDrift"
  | "AMIDrift"
  | "SecurityGroupDrift"
  | "SubnetDrift"
  | "CapacityReservationDrift"
  | "PlacementGroupDrift";

/** What is known of the instance; an unknown fact never counts as drift. */
interface InstanceFacts {
  readonly imageId?: string;
  readonly securityGroupIds?: readonly string[];
  readonly subnetId?: string;
  readonly reservationId?: string;
}

/** What drift of one NodeClaim is detected from. */
export interface DriftInput {
  readonly claim: NodeClaim;
  readonly nodePool: NodePool;
  /** Undefined when it does not exist: then its drift is not detected. */
  readonly nodeClass: EC2NodeClass | undefined;
  /** The instance types of the NodePool, available or not. */
  readonly instanceTypes: readonly InstanceType[];
  readonly instance?: InstanceFacts;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * A missing instance type counts only for claims older than this
 * (karpenter: pkg/controllers/nodeclaim/disruption/drift.go, Drift.isDrifted).
 */
const INSTANCE_TYPE_GRACE_MS = 3_600_000;

type Test = (input: DriftInput) => boolean;
type OfPool = Pick<DriftInput, "claim" | "nodePool">;
type OfClass = Pick<DriftInput, "claim" | "nodeClass">;

/** Whether two hash annotations differ; false unless both exist with the same hash version. */
function hashDiffers(ours: NodeClaim, theirs: NodePool | EC2NodeClass, hash: string, version: string): boolean {
  const a = ours.metadata.annotations ?? {};
  const b = theirs.metadata.annotations ?? {};
  if (!a[hash] || !b[hash] || !a[version] || a[version] !== b[version]) return false;
  return a[hash] !== b[hash];
}

const nodePoolDrifted = ({ claim, nodePool }: OfPool): boolean => hashDiffers(claim, nodePool, NODE_POOL_HASH, NODE_POOL_HASH_VERSION);

/** The NodePool's requirements no longer admit the claim's labels. */
const requirementsDrifted = ({ claim, nodePool }: OfPool): boolean => {
  const wanted = requirementsFrom(nodePool.spec.template.spec.requirements);
  return incompatibility(requirementsFromLabels(claim.metadata.labels), wanted) !== undefined;
};

/**
 * The NodePool no longer has the claim's instance type, or not in its zone and capacity type. Unavailable offerings
 * count.
 */
const instanceTypeNotFound: Test = ({ claim, instanceTypes, now }) => {
  if (now - fromRfc3339(claim.metadata.creationTimestamp) < INSTANCE_TYPE_GRACE_MS) return false;
  const labels = claim.metadata.labels ?? {};
  const type = instanceTypes.find(({ name }) => name === labels[INSTANCE_TYPE]);
  if (!type) return true;
  const wanted = labels[CAPACITY_TYPE];
  return !type.offerings.some(({ zone, capacityType }) => {
    const sold = capacityType === wanted || (wanted === "reserved" && capacityType === "on-demand");
    return zone === labels[ZONE] && sold;
  });
};

const nodeClassDrifted = ({ claim, nodeClass }: OfClass): boolean =>
  nodeClass !== undefined && hashDiffers(claim, nodeClass, NODE_CLASS_HASH_KEY, NODE_CLASS_HASH_VERSION_KEY);

/** The EC2NodeClass no longer selects the instance's image for its instance type. */
const amiDrifted: Test = ({ claim, nodeClass, instance, instanceTypes }) => {
  const imageId = instance?.imageId ?? claim.status?.imageID;
  const amis = nodeClass?.status?.amis ?? [];
  if (!imageId || amis.length === 0) return false;
  const labels = claim.metadata.labels ?? {};
  const type = instanceTypes.find(({ name }) => name === labels[INSTANCE_TYPE]);
  const described = requirementsFrom(type?.requirements);
  return !amis.some(({ id, requirements }) => {
    const wanted = requirementsFrom(requirements);
    // Images may require accelerators, which only the instance type's requirements name and the claim's labels do not.
    return id === imageId && (labelsCompatible(labels, wanted) || (type !== undefined && incompatibility(described, wanted) === undefined));
  });
};

function sameMembers(a: readonly string[], b: readonly string[]): boolean {
  const set = new Set(b);
  return new Set(a).size === set.size && a.every((item) => set.has(item));
}

const securityGroupsDrifted: Test = ({ nodeClass, instance }) => {
  const wanted = nodeClass?.status?.securityGroups ?? [];
  const actual = instance?.securityGroupIds ?? [];
  if (wanted.length === 0 || actual.length === 0) return false;
  return !sameMembers(
    actual,
    wanted.map(({ id }) => id),
  );
};

const subnetDrifted: Test = ({ nodeClass, instance }) => {
  const wanted = nodeClass?.status?.subnets ?? [];
  if (wanted.length === 0 || !instance?.subnetId) return false;
  return !wanted.some(({ id }) => id === instance.subnetId);
};

/** The EC2NodeClass no longer selects the instance's capacity reservation, or the reservation has ended. */
const capacityReservationDrifted: Test = ({ nodeClass, instance }) => {
  const selected = nodeClass?.status?.capacityReservations;
  if (!instance?.reservationId || selected === undefined) return false;
  return !selected.some(({ id }) => id === instance.reservationId);
};

/**
 * The placement groups of claim and class differ; having none is one. False until the class's PlacementGroupReady is
 * True.
 */
const placementGroupDrifted: Test = ({ claim, nodeClass }) => {
  if (nodeClass === undefined || !isTrue(nodeClass.status?.conditions, "PlacementGroupReady")) return false;
  return claim.metadata.labels?.[PLACEMENT_GROUP_ID] !== nodeClass.status?.placementGroup?.id;
};

/**
 * In the order of the checks: first those of karpenter, then those of the provider
 * (karpenter-provider-aws: pkg/cloudprovider/drift.go, CloudProvider.isNodeClassDrifted).
 */
const TESTS: readonly (readonly [DriftReason, Test])[] = [
  ["NodePoolDrifted", nodePoolDrifted],
  ["RequirementsDrifted", requirementsDrifted],
  ["InstanceTypeNotFound", instanceTypeNotFound],
  ["NodeClassDrift", nodeClassDrifted],
  ["AMIDrift", amiDrifted],
  ["SecurityGroupDrift", securityGroupsDrifted],
  ["SubnetDrift", subnetDrifted],
  ["CapacityReservationDrift", capacityReservationDrifted],
  ["PlacementGroupDrift", placementGroupDrifted],
];

/** An instance whose image the EC2NodeClass no longer names at all, whatever instance type an image is for. */
const imageNotListed = ({ claim, nodeClass }: OfClass): boolean => {
  const amis = nodeClass?.status?.amis ?? [];
  return claim.status?.imageID !== undefined && amis.length > 0 && !amis.some(({ id }) => id === claim.status?.imageID);
};

/** Drift from its NodePool that the two show alone, without the catalogue of instance types. */
export function driftOfPool(input: OfPool): DriftReason | undefined {
  if (!isTrue(input.claim.status?.conditions, "Launched")) return undefined;
  if (nodePoolDrifted(input)) return "NodePoolDrifted";
  return requirementsDrifted(input) ? "RequirementsDrifted" : undefined;
}

/** Drift from its EC2NodeClass that the two show alone, without the facts of the instance. */
export function driftOfClass(input: OfClass): DriftReason | undefined {
  if (!isTrue(input.claim.status?.conditions, "Launched")) return undefined;
  if (nodeClassDrifted(input)) return "NodeClassDrift";
  return imageNotListed(input) ? "AMIDrift" : undefined;
}

const FROM_POOL: ReadonlySet<string> = new Set<DriftReason>(["NodePoolDrifted", "RequirementsDrifted", "InstanceTypeNotFound"]);

/** Whether a NodeClaim with this reason has drifted from its EC2NodeClass and not from its NodePool. */
export const isOfClass = (reason: string): boolean => !FROM_POOL.has(reason);

/**
 * Why a claim no longer matches its NodePool or EC2NodeClass; undefined when it does, or before it is launched. It
 * becomes reason and message of the condition Drifted.
 */
export function driftReason(input: DriftInput): DriftReason | undefined {
  if (!isTrue(input.claim.status?.conditions, "Launched")) return undefined;
  return TESTS.find(([, test]) => test(input))?.[0];
}
