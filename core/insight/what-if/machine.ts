import { launchOfferings } from "../../disruption/prices/price.ts";
import { filterForLaunch } from "../../launch/filter.ts";
import { rfc3339, withCondition } from "../../model/conditions.ts";
import type { CapacityType, InstanceType, Offering } from "../../model/instance-type.ts";
import { CAPACITY_TYPE, HOSTNAME, INITIALIZED, INSTANCE_TYPE, MIN_VALUES_RELAXED, REGISTERED, ZONE } from "../../model/labels.ts";
import type { Node } from "../../model/node.ts";
import type { NodeClaim } from "../../model/node-claim.ts";
import type { NodeSelectorRequirementWithMinValues } from "../../model/node-pool.ts";
import { formatResources, parseResources } from "../../model/quantity.ts";
import { allocatableOf } from "../../offerings/overhead.ts";
import { requirementsFrom } from "../../requirements/requirements.ts";
import { isEphemeralTaint } from "../../scheduling/problem/node-view.ts";

/** The offering that a NodeClaim is launched as. */
interface Purchase {
  readonly type: InstanceType;
  readonly offering: Offering;
}

/**
 * The offering that a claim would be launched as: a capacity reservation where its requirements admit one, otherwise
 * the cheapest offering of the capacity type that a launch asks EC2 for first. Undefined without an available offering.
 * @param names of the instance types that the claim may become.
 */
export function purchaseOf(claim: NodeClaim, names: readonly string[], types: readonly InstanceType[]): Purchase | undefined {
  const requirements = requirementsFrom(claim.spec.requirements);
  const wanted = new Set(names);
  const open = types.filter(({ name }) => wanted.has(name));
  const reserved = open.flatMap((type) => sold(type, launchOfferings(type, requirements), "reserved"));
  if (reserved.length > 0) return cheapestOf(reserved);
  const relaxMinValues = claim.metadata.annotations?.[MIN_VALUES_RELAXED] === "true";
  const filtered = filterForLaunch(open, requirements, parseResources(claim.spec.resources?.requests), { relaxMinValues });
  if ("none" in filtered) return undefined;
  const { candidates, capacityType } = filtered.ok;
  return cheapestOf(candidates.flatMap(({ type, offerings }) => sold(type, offerings, capacityType)));
}

function sold(type: InstanceType, offerings: readonly Offering[], capacityType: CapacityType): readonly Purchase[] {
  return offerings.filter((offering) => offering.capacityType === capacityType).map((offering) => ({ type, offering }));
}

/** Of equal prices, the name of type and zone decides. */
function cheapestOf(purchases: readonly Purchase[]): Purchase | undefined {
  const key = ({ type, offering }: Purchase): string => `${type.name} ${offering.zone}`;
  return purchases.toSorted((a, b) => a.offering.price - b.offering.price || (key(a) < key(b) ? -1 : 1))[0];
}

/** A NodeClaim and its node. */
interface Pair {
  readonly claim: NodeClaim;
  readonly node: Node;
}

/**
 * The claim with its new instance, and the node, both as they are once the node is initialized. The node has the
 * claim's name.
 */
export function newMachine(claim: NodeClaim, { type, offering }: Purchase, now: number): Pair {
  const { name } = claim.metadata;
  const providerID = `aws:///${offering.zone}/${name}`;
  const labels = {
    ...pinned(type.requirements),
    ...pinned(claim.spec.requirements),
    ...claim.metadata.labels,
    [CAPACITY_TYPE]: offering.capacityType,
    [INSTANCE_TYPE]: type.name,
    [ZONE]: offering.zone,
  };
  const allocatable = formatResources(allocatableOf(type));
  const status = { capacity: type.capacity, allocatable };
  const metadata = { name, creationTimestamp: rfc3339(now) };
  return upAndRunning(
    { ...claim, metadata: { ...claim.metadata, ...metadata, labels }, status: { ...status, providerID } },
    {
      metadata: { ...metadata, labels: { ...labels, [HOSTNAME]: name } },
      spec: { providerID, ...(claim.spec.taints && { taints: claim.spec.taints }) },
      status,
    },
    now,
  );
}

/**
 * Claim and node once the node is initialized: startup taints and ephemeral taints removed, conditions set. `now` in
 * ms.
 */
export function upAndRunning(claim: NodeClaim, node: Node, now: number): Pair {
  const startup = claim.spec.startupTaints ?? [];
  const taints = (node.spec.taints ?? []).filter(
    (taint) => !isEphemeralTaint(taint) && !startup.some(({ key, effect }) => key === taint.key && effect === taint.effect),
  );
  const conditions = ["Launched", "Registered", "Initialized"].reduce(
    (list, type) => withCondition(list, { type, status: "True" }, { now }),
    claim.status?.conditions ?? [],
  );
  return {
    claim: { ...claim, status: { ...claim.status, nodeName: node.metadata.name, conditions } },
    node: {
      ...node,
      metadata: { ...node.metadata, labels: { ...node.metadata.labels, [REGISTERED]: "true", [INITIALIZED]: "true" } },
      spec: { ...node.spec, taints },
      status: { ...node.status, conditions: withCondition(node.status?.conditions ?? [], { type: "Ready", status: "True" }, { now }) },
    },
  };
}

/** Labels of the requirements that allow exactly one value. */
function pinned(requirements: readonly NodeSelectorRequirementWithMinValues[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    requirements.flatMap(({ key, operator, values }) => (operator === "In" && values?.length === 1 ? [[key, values[0] ?? ""]] : [])),
  );
}
