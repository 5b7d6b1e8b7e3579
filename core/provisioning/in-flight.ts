import { oncePer } from "../lib/once-per.ts";
import { ownValue } from "../lib/own-value.ts";
import { conditionOf } from "../model/conditions.ts";
import { providerIdOf } from "../model/instance.ts";
import type { InstanceType } from "../model/instance-type.ts";
import { CAPACITY_TYPE, INITIALIZED, INSTANCE_TYPE, INTENT, NODE_POOL, REGISTERED, WELL_KNOWN_LABELS, ZONE } from "../model/labels.ts";
import { INTENDED, type NodeClaim } from "../model/node-claim.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import { formatResources, parseResources, type Resources } from "../model/quantity.ts";
import type { Snapshot } from "../model/snapshot.ts";
import { allocatableOf } from "../offerings/overhead.ts";
import { has } from "../requirements/requirement.ts";
import { compatible, requirementsFrom } from "../requirements/requirements.ts";

/**
 * Records of NodeClaims in flight whose instance the NodeClaims, as they were read, do not show: not launched, launched
 * since, or launched by an invocation that was killed before it wrote the NodeClaim.
 */
function onTheirWay(records: readonly NodeClaimRecord[], claims: readonly NodeClaim[]): readonly NodeClaimRecord[] {
  const launched = new Set(claims.flatMap(({ metadata, status }) => (status?.providerID ? [metadata.name] : [])));
  return records.filter(
    ({ name, terminating, initializedAt }) => terminating === undefined && initializedAt === undefined && !launched.has(name),
  );
}

/** What is known of a NodeClaim in flight: its record, or the part of one that the NodeClaim itself has. */
type Coming = Pick<NodeClaimRecord, "name" | "nodePool" | "manifest" | "instanceTypes" | "instance">;

/**
 * NodeClaims that we have made, that have not launched, and whose record is lost: they are adopted and launched within
 * two minutes, for the pods that still wait.
 */
function unrecorded(records: readonly NodeClaimRecord[], { nodeClaims, instanceTypes }: Snapshot): readonly Coming[] {
  const recorded = new Set(records.map(({ name }) => name));
  return nodeClaims
    .filter(
      ({ metadata, status }) =>
        status?.providerID === undefined &&
        metadata.deletionTimestamp === undefined &&
        metadata.annotations?.[INTENT] !== undefined &&
        !recorded.has(metadata.name),
    )
    .map((claim) => {
      const { name, labels } = claim.metadata;
      const nodePool = labels?.[NODE_POOL] ?? "";
      return { name, nodePool, manifest: claim, instanceTypes: typesFor(claim, instanceTypes.get(nodePool) ?? []) };
    });
}

function typesFor({ spec }: NodeClaim, types: readonly InstanceType[]): readonly string[] {
  const wanted = requirementsFrom(spec.requirements);
  const names = wanted.get(INSTANCE_TYPE);
  return types
    .filter(({ name }) => names === undefined || has(names, name))
    .filter(({ requirements }) => compatible(wanted, requirementsFrom(requirements), WELL_KNOWN_LABELS))
    .map(({ name }) => name);
}

/**
 * The snapshot with NodeClaims in flight shown as instances, so that a second run neither launches again for the same
 * pods nor ignores the limits that they use. The instance type of a NodeClaim is unknown before its launch, so it
 * counts with the smallest allocatable and the largest capacity of its possible types. Its pods are nominated to it;
 * scheduling subtracts their requests. Whom a NodeClaim without a record was made for is unknown: it has room for any.
 */
export function withInFlight(snapshot: Snapshot, records: readonly NodeClaimRecord[]): Snapshot {
  const waiting = [...onTheirWay(records, snapshot.nodeClaims), ...unrecorded(records, snapshot)];
  if (waiting.length === 0) return snapshot;
  const byName = new Map(snapshot.nodeClaims.map((claim) => [claim.metadata.name, claim]));
  for (const coming of waiting) {
    const shown = inFlight(coming, byName.get(coming.name), snapshot);
    if (shown) byName.set(coming.name, shown);
  }
  return { ...snapshot, nodeClaims: [...byName.values()] };
}

function inFlight(record: Coming, claim: NodeClaim | undefined, { instanceTypes }: Snapshot): NodeClaim | undefined {
  const { instance } = record;
  const wanted = new Set(instance ? [instance.instanceType] : record.instanceTypes);
  const types = (instanceTypes.get(record.nodePool ?? "") ?? []).filter(({ name }) => wanted.has(name));
  if (types.length === 0) return undefined;
  const { metadata } = claim ?? record.manifest;
  // Why EC2 has not launched it yet; nothing else is known of its node.
  const launched = conditionOf(claim?.status?.conditions, "Launched");
  return {
    ...record.manifest,
    metadata: { ...metadata, labels: { ...pinnedLabels(record), ...metadata.labels } },
    status: {
      providerID: instance ? providerIdOf(instance) : `${INTENDED}${record.name}`,
      capacity: formatResources(most(types)),
      allocatable: formatResources(least(types)),
      ...(launched?.status === "Unknown" && { conditions: [launched] }),
    },
  };
}

/** Labels that the node will have for every possible instance type. */
function pinnedLabels(record: Coming): Readonly<Record<string, string>> {
  const pinned = record.manifest.spec.requirements.flatMap(({ key, operator, values }) =>
    operator === "In" && values?.length === 1 && key !== REGISTERED && key !== INITIALIZED ? [[key, values[0] ?? ""]] : [],
  );
  const [only, ...others] = record.instanceTypes;
  const { instance } = record;
  return {
    ...Object.fromEntries(pinned),
    [NODE_POOL]: record.nodePool ?? "",
    ...(only && others.length === 0 && { [INSTANCE_TYPE]: only }),
    ...(instance && { [INSTANCE_TYPE]: instance.instanceType, [ZONE]: instance.zone, [CAPACITY_TYPE]: instance.capacityType }),
  };
}

function least(types: readonly InstanceType[]): Resources {
  const lists = types.map(allocatableOf);
  const [first = {}] = lists;
  return Object.fromEntries(Object.keys(first).map((name) => [name, Math.min(...lists.map((list) => ownValue(list, name) ?? 0))]));
}

const capacityOf = oncePer(({ capacity }: InstanceType) => parseResources(capacity));

function most(types: readonly InstanceType[]): Resources {
  const lists = types.map(capacityOf);
  const names = new Set(lists.flatMap((list) => Object.keys(list)));
  return Object.fromEntries([...names].map((name) => [name, Math.max(...lists.map((list) => ownValue(list, name) ?? 0))]));
}
