// core/rebuild: restores lost records and NodeClaims of a cluster from what is left.
// Records, NodeClaims, nodes and instances come in; steps, each with the record to write, go out. The store and the CLI
// must not be known here.

import { type Inventory, isAlive } from "../lifecycle/garbage-collection.ts";
import { foreignInstance, isDoneWith } from "../lifecycle/identity.ts";
import { type Instance, instanceIdOf } from "../model/instance.ts";
import { otherOwners } from "../model/instance-owner.ts";
import { CAPACITY_TYPE, NODE_POOL, ZONE } from "../model/labels.ts";
import { isManagedClaim } from "../model/managed.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { NodePool } from "../model/node-pool.ts";
import type { PlannedNodeClaim } from "../model/plan.ts";
import { NODE_CLAIM_TAG } from "../model/tags.ts";
import { claimName } from "../provisioning/claim-name.ts";
import { intentFor } from "../provisioning/intent.ts";
import { launchedFor } from "./launched.ts";
import { recordedInstance, recordFromClaim } from "./record.ts";

/** One lost object, and how it is restored. */
export interface RebuildStep {
  /** "NodeClaim default-x7k2p", the object's kind and name. */
  readonly what: string;
  /** Instance id; absent without an instance. */
  readonly machine?: string;
  readonly why: string;
  /** What the lifecycle does afterwards. */
  readonly outcome: string;
  /** The write that restores it; absent when only a person can. */
  readonly write?: { readonly type: "create" | "update"; readonly record: NodeClaimRecord };
}

/** All that is left of a cluster. */
export interface Remains extends Inventory {
  readonly cluster: string;
  readonly nodePools: readonly NodePool[];
  readonly newId: () => string;
}

/**
 * How lost objects are restored: of a node's instance, record and NodeClaim, any one follows from the other two. Only
 * records are written; the lifecycle creates all else from them, as it always does. A second run finds nothing to do.
 */
export function planRebuild(remains: Remains): readonly RebuildStep[] {
  return [...lostRecords(remains), ...lostClaims(remains), ...lostBoth(remains), ...lostPools(remains)];
}

/**
 * NodeClaims without a record: it is lost, or another controller has launched them, as Karpenter does.
 */
export function lostRecords({
  cluster,
  records,
  claims,
  instances,
  now,
  newId,
}: Pick<Remains, "cluster" | "records" | "claims" | "instances" | "now" | "newId">): readonly RebuildStep[] {
  const known = new Set(records.map(({ name }) => name));
  const alive = new Set(instances.filter(isAlive).map(({ id }) => id));
  const lost = claims.filter((claim) => isManagedClaim(claim) && !isDoneWith(claim) && !known.has(claim.metadata.name));
  return lost.map((claim): RebuildStep => {
    const launched = launchedFor(claim.metadata.uid, instances);
    const shown = instanceIdOf(claim.status?.providerID);
    const tags = instances.find(({ id }) => id === shown)?.tags;
    const facts = { cluster, now, id: newId(), ...(tags && { tags }) };
    const record = recordFromClaim(claim, { ...facts, ...(launched && { launched: recordedInstance(launched) }) });
    const machine = record.instance?.id;
    const foreign = machine === undefined ? undefined : whyNotIts(claim, machine, { records, instances, cluster });
    if (foreign !== undefined) {
      const outcome = `delete it: ${foreign}`;
      return {
        what: `NodeClaim ${claim.metadata.name}`,
        ...(machine !== undefined && { machine }),
        why: "the table has no record of it",
        outcome,
      };
    }
    const outcome =
      machine === undefined ? "it is launched" : alive.has(machine) ? "it stays as it is" : "it ends, since its machine is no more";
    return {
      what: `NodeClaim ${claim.metadata.name}`,
      ...(machine !== undefined && { machine }),
      why: "the table has no record of it",
      outcome,
      write: { type: "create", record },
    };
  });
}

/** Why the instance that a NodeClaim names is another one's; undefined when it may be its own. */
function whyNotIts(claim: NodeClaim, id: string, { records, instances, cluster }: Pick<Remains, "records" | "instances" | "cluster">) {
  const owner = otherOwners(records)(claim);
  if (owner !== undefined) return `instance ${id} is that of NodeClaim ${owner.name}`;
  const instance = instances.find((one) => one.id === id);
  return instance && isAlive(instance) ? foreignInstance(instance, { cluster, name: claim.metadata.name }) : undefined;
}

/**
 * Records whose NodeClaim is lost. A record without its UID looks as if its NodeClaim was never created, so the
 * lifecycle creates it.
 */
function lostClaims({ records, claims, nodes, nodePools, instances, now }: Remains): readonly RebuildStep[] {
  const there = new Set(claims.map(({ metadata }) => metadata.name));
  const alive = new Set(instances.filter(isAlive).map(({ id }) => id));
  const deleted = new Set(
    nodes.flatMap(({ metadata, spec }) => (metadata.deletionTimestamp === undefined ? [] : [instanceIdOf(spec.providerID)])),
  );
  const lost = records.filter(({ name, uid, terminating }) => uid !== undefined && terminating === undefined && !there.has(name));
  return lost.map((record): RebuildStep => {
    const { instance, uid: _, ...rest } = record;
    const shown = { what: `NodeClaim ${record.name}`, ...(instance && { machine: instance.id }), why: "its custom resource has vanished" };
    if (instance === undefined || !alive.has(instance.id)) {
      const ended = {
        ...record,
        terminating: { reason: "deleted", at: now, detail: "its NodeClaim has vanished, and so has its machine" },
        dueAt: now,
      };
      return { ...shown, outcome: "it is forgotten, since it has no machine", write: { type: "update", record: ended } };
    }
    const manifest = withOwner(record.manifest, nodePools);
    const outcome = deleted.has(instance.id) ? "it is made again and drained, since its node is being deleted" : "it is made again";
    return { ...shown, outcome, write: { type: "update", record: { ...rest, instance, manifest, dueAt: now } } };
  });
}

/** Instances of the cluster that only their tags identify. */
function lostBoth(remains: Remains): readonly RebuildStep[] {
  const { cluster, records, claims, nodes, nodePools, instances, now } = remains;
  const pools = new Map(nodePools.map((pool) => [pool.metadata.name, pool]));
  const members = new Set(nodes.map(({ spec }) => instanceIdOf(spec.providerID)));
  const names = new Set([...records.map(({ name }) => name), ...claims.map(({ metadata }) => metadata.name)]);
  const owned = new Set([
    ...records.flatMap(({ instance }) => instance?.id ?? []),
    ...claims.flatMap(({ status }) => instanceIdOf(status?.providerID) ?? []),
    ...claims.flatMap(({ metadata }) => launchedFor(metadata.uid, instances)?.id ?? []),
  ]);
  return instances
    .filter((instance) => isAlive(instance) && !owned.has(instance.id) && !names.has(instance.tags[NODE_CLAIM_TAG] ?? ""))
    .map((instance): RebuildStep => {
      const pool = pools.get(instance.tags[NODE_POOL] ?? "");
      const shown = { what: `instance ${instance.id}`, machine: instance.id, why: "neither a record nor a NodeClaim names it" };
      if (!members.has(instance.id)) return { ...shown, outcome: "it is collected, since it never became a node" };
      if (pool === undefined)
        return { ...shown, outcome: `apply NodePool ${instance.tags[NODE_POOL] || "(none)"} first, or it stays as it is` };
      const name = instance.tags[NODE_CLAIM_TAG] || claimName(pool.metadata.name, instance.id);
      const facts = { cluster, id: instance.id, name, now, reason: "adopted", podUids: [] } as const;
      const intent = intentFor(asItIs(instance, pool), pool, facts);
      const record = { ...intent, instance: recordedInstance(instance), launchedAt: instance.launchedAt };
      return { ...shown, outcome: `NodeClaim ${name} is made for it`, write: { type: "create", record } };
    });
}

/** NodePools that instances belong to and that do not exist. Only their owner knows their content. */
function lostPools({ records, instances, nodePools }: Remains): readonly RebuildStep[] {
  const there = new Set(nodePools.map(({ metadata }) => metadata.name));
  const named = [
    ...records.flatMap(({ nodePool }) => nodePool ?? []),
    ...instances.filter(isAlive).map(({ tags }) => tags[NODE_POOL] ?? ""),
  ];
  const missing = [...new Set(named)].filter((name) => name !== "" && !there.has(name)).sort();
  return missing.map((name) => ({
    what: `NodePool ${name}`,
    why: "machines belong to it, and it is not there",
    outcome: "apply its manifest",
  }));
}

/** The instance as a plan would have requested it. */
function asItIs({ instanceType, zone, capacityType }: Instance, pool: NodePool): PlannedNodeClaim {
  const is = (key: string, value: string) => ({ key, operator: "In", values: [value] }) as const;
  return {
    nodePool: pool.metadata.name,
    requirements: [is(ZONE, zone), is(CAPACITY_TYPE, capacityType)],
    taints: pool.spec.template.spec.taints ?? [],
    labels: {},
    instanceTypes: [instanceType],
    requests: {},
    pods: [],
    pricePerHour: 0,
  };
}

/**
 * Replaces the owner's UID: a NodePool of this name may have been created again, and Kubernetes deletes a NodeClaim
 * whose owner does not exist.
 */
function withOwner(manifest: NodeClaim, nodePools: readonly NodePool[]): NodeClaim {
  const owners = (manifest.metadata.ownerReferences ?? []).flatMap((owner) => {
    const uid = nodePools.find(({ metadata }) => metadata.name === owner.name)?.metadata.uid;
    return owner.kind !== "NodePool" ? [owner] : uid === undefined ? [] : [{ ...owner, uid }];
  });
  return { ...manifest, metadata: { ...manifest.metadata, ownerReferences: owners } };
}
