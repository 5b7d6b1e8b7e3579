import { fromRfc3339, isTrue } from "../model/conditions.ts";
import type { InstanceType } from "../model/instance-type.ts";
import { CAPACITY_TYPE, INSTANCE_TYPE, NODE_POOL_HASH, NODE_POOL_HASH_VERSION, PLACEMENT_GROUP_ID, ZONE } from "../model/labels.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { EC2NodeClass } from "../model/node-class.ts";
import type { NodePool } from "../model/node-pool.ts";
import { NODE_CLASS_HASH_KEY, NODE_CLASS_HASH_VERSION_KEY } from "../node-class/hash.ts";
import { incompatibility, labelsCompatible, requirementsFrom, requirementsFromLabels } from "../requirements/requirements.ts";

/** The condition's reason, in Karpenter's words. */
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

/** What is known of the machine itself; a fact that is not known cannot have drifted. */
export interface InstanceFacts {
  readonly imageId?: string;
  readonly securityGroupIds?: readonly string[];
  readonly subnetId?: string;
  readonly reservationId?: string;
}

export interface DriftInput {
  readonly claim: NodeClaim;
  readonly nodePool: NodePool;
  /** Undefined when it is gone: then nothing can be said about it. */
  readonly nodeClass: EC2NodeClass | undefined;
  /** What the pool offers now. */
  readonly instanceTypes: readonly InstanceType[];
  readonly instance?: InstanceFacts;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A claim is younger than its catalogue for a while: types are only missed after an hour. */
const INSTANCE_TYPE_GRACE_MS = 3_600_000;

type Test = (input: DriftInput) => boolean;

/** Only hashes of one version can be compared, and only those that are there. */
function hashDiffers(ours: NodeClaim, theirs: NodePool | EC2NodeClass, hash: string, version: string): boolean {
  const a = ours.metadata.annotations ?? {};
  const b = theirs.metadata.annotations ?? {};
  if (!a[hash] || !b[hash] || !a[version] || a[version] !== b[version]) return false;
  return a[hash] !== b[hash];
}

const nodePoolDrifted: Test = ({ claim, nodePool }) => hashDiffers(claim, nodePool, NODE_POOL_HASH, NODE_POOL_HASH_VERSION);

/** Wider requirements still admit the claim; narrower ones may not. */
const requirementsDrifted: Test = ({ claim, nodePool }) => {
  const wanted = requirementsFrom(nodePool.spec.template.spec.requirements);
  return incompatibility(requirementsFromLabels(claim.metadata.labels), wanted) !== undefined;
};

/** The type is no longer offered, or not where and how the claim has it. What is sold out for now is offered still. */
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

const nodeClassDrifted: Test = ({ claim, nodeClass }) =>
  nodeClass !== undefined && hashDiffers(claim, nodeClass, NODE_CLASS_HASH_KEY, NODE_CLASS_HASH_VERSION_KEY);

/** An image that the class would not choose for this machine today. */
const amiDrifted: Test = ({ claim, nodeClass, instance, instanceTypes }) => {
  const imageId = instance?.imageId ?? claim.status?.imageID;
  const amis = nodeClass?.status?.amis ?? [];
  if (!imageId || amis.length === 0) return false;
  const labels = claim.metadata.labels ?? {};
  const type = instanceTypes.find(({ name }) => name === labels[INSTANCE_TYPE]);
  const described = requirementsFrom(type?.requirements);
  return !amis.some(({ id, requirements }) => {
    const wanted = requirementsFrom(requirements);
    // Images ask for an architecture, or for accelerators that only the type's requirements tell of.
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

/** The reservation that the machine stands in is selected no longer, or has ended. */
const capacityReservationDrifted: Test = ({ nodeClass, instance }) => {
  const selected = nodeClass?.status?.capacityReservations;
  if (!instance?.reservationId || selected === undefined) return false;
  return !selected.some(({ id }) => id === instance.reservationId);
};

/** Either may be in no group. A class whose group was not looked up yet tells nothing. */
const placementGroupDrifted: Test = ({ claim, nodeClass }) => {
  if (nodeClass === undefined || !isTrue(nodeClass.status?.conditions, "PlacementGroupReady")) return false;
  return claim.metadata.labels?.[PLACEMENT_GROUP_ID] !== nodeClass.status?.placementGroup?.id;
};

/** In the order in which they are looked for (nodeclaim-lifecycle.md §10). */
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

/**
 * Why a claim is no longer what its NodePool and EC2NodeClass ask for; undefined while it is, or before it has launched. Becomes reason
 * and message of its condition Drifted.
 */
export function driftReason(input: DriftInput): DriftReason | undefined {
  if (!isTrue(input.claim.status?.conditions, "Launched")) return undefined;
  return TESTS.find(([, test]) => test(input))?.[0];
}
