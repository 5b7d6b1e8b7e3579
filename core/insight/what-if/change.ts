import { type DriftReason, driftReason } from "../../drift/detect.ts";
import { conditionOf, isTrue, rfc3339, withCondition, withoutCondition } from "../../model/conditions.ts";
import { NODE_POOL, NODE_POOL_HASH, NODE_POOL_HASH_VERSION } from "../../model/labels.ts";
import type { NodeClaim } from "../../model/node-claim.ts";
import type { EC2NodeClass } from "../../model/node-class.ts";
import type { NodePool } from "../../model/node-pool.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import type { PodDisruptionBudget } from "../../model/workloads.ts";
import { NODE_CLASS_HASH_KEY, NODE_CLASS_HASH_VERSION, NODE_CLASS_HASH_VERSION_KEY, nodeClassHash } from "../../node-class/hash.ts";
import { NODE_POOL_HASH_VERSION_VALUE, nodePoolHash } from "../../node-pool/hash.ts";

/** A change of definitions. An object replaces the one with its name, or is added. */
export interface Change {
  readonly nodePools?: readonly NodePool[];
  readonly nodeClasses?: readonly EC2NodeClass[];
  readonly podDisruptionBudgets?: readonly PodDisruptionBudget[];
  /** Names of NodePools to delete; their NodeClaims are deleted with them, as in Kubernetes. */
  readonly deletedPools?: readonly string[];
  /** Instance types by NodePool; unchanged unless set. */
  readonly instanceTypes?: Snapshot["instanceTypes"];
}

/** A node that no longer matches its NodePool or EC2NodeClass. */
export interface DriftedNode {
  readonly nodeClaim: string;
  /** Empty for a NodeClaim without a node. */
  readonly node: string;
  readonly nodePool: string;
  readonly reason: DriftReason;
}

/** The cluster with the change, before any reaction to it. */
export interface Changed {
  readonly snapshot: Snapshot;
  /** Nodes that drift because of the change, by NodeClaim name; nodes that had drifted before are left out. */
  readonly drifted: readonly DriftedNode[];
}

/**
 * Applies a change to a snapshot, with what the catalog and disruption functions derive from it at once: the hashes,
 * and the condition Drifted of claims whose NodePool or EC2NodeClass changes. A claim without a comparable hash is
 * taken to match the definitions before the change.
 */
export function applyChange(before: Snapshot, nodeClasses: readonly EC2NodeClass[], change: Change): Changed {
  const deleted = new Set(change.deletedPools);
  const pools = merged(before.nodePools, change.nodePools ?? []).filter(({ metadata }) => !deleted.has(metadata.name));
  const classes = merged(nodeClasses, change.nodeClasses ?? []);
  const snapshot: Snapshot = {
    ...before,
    nodePools: pools.map(asUsable),
    podDisruptionBudgets: merged(before.podDisruptionBudgets, change.podDisruptionBudgets ?? []),
    instanceTypes: change.instanceTypes ?? before.instanceTypes,
  };
  const definitions = { before, nodeClasses, snapshot, classes, touched: touchedBy(change, pools) };
  const drifted: DriftedNode[] = [];
  const nodeClaims = before.nodeClaims.map((claim) => {
    const nodePool = claim.metadata.labels?.[NODE_POOL] ?? "";
    if (deleted.has(nodePool)) return { ...claim, metadata: { deletionTimestamp: rfc3339(before.now), ...claim.metadata } };
    if (!definitions.touched.has(nodePool)) return claim;
    const reason = driftOf(claim, nodePool, definitions);
    if (reason !== undefined && !isTrue(claim.status?.conditions, "Drifted")) {
      drifted.push({ nodeClaim: claim.metadata.name, node: claim.status?.nodeName ?? "", nodePool, reason });
    }
    return withDrift(claim, reason, before.now);
  });
  return { snapshot: { ...snapshot, nodeClaims }, drifted: drifted.sort((a, b) => (a.nodeClaim < b.nodeClaim ? -1 : 1)) };
}

interface Named {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly status?: unknown;
}

/** The objects after the change. A replaced object keeps its metadata and status where the change does not set them. */
function merged<T extends Named>(objects: readonly T[], changes: readonly T[]): readonly T[] {
  const keyOf = ({ metadata }: Named): string => `${metadata.namespace ?? "default"}/${metadata.name}`;
  const byKey = new Map(objects.map((object) => [keyOf(object), object]));
  for (const change of changes) {
    const old = byKey.get(keyOf(change));
    const metadata = {
      ...old?.metadata,
      ...change.metadata,
      annotations: { ...old?.metadata.annotations, ...change.metadata.annotations },
    };
    const status = change.status ?? old?.status;
    byKey.set(keyOf(change), { ...change, metadata, ...(status !== undefined && { status }) });
  }
  return [...byKey.values()];
}

/** A new NodePool counts as ready. */
function asUsable(pool: NodePool): NodePool {
  return pool.status === undefined ? { ...pool, status: { conditions: [{ type: "Ready", status: "True" }] } } : pool;
}

/** Names of NodePools that change, or whose EC2NodeClass or instance types change. */
function touchedBy({ nodePools = [], nodeClasses = [], instanceTypes }: Change, pools: readonly NodePool[]): ReadonlySet<string> {
  const classes = new Set(nodeClasses.map(({ metadata }) => metadata.name));
  const names = pools.filter(({ spec }) => instanceTypes !== undefined || classes.has(spec.template.spec.nodeClassRef.name));
  return new Set([...nodePools, ...names].map(({ metadata }) => metadata.name));
}

/** Definitions before and after the change. */
interface Definitions {
  readonly before: Snapshot;
  readonly nodeClasses: readonly EC2NodeClass[];
  readonly snapshot: Snapshot;
  readonly classes: readonly EC2NodeClass[];
}

/**
 * Drift that depends on facts of the instance, which a snapshot does not have: a change of definitions does not end it.
 */
const INSTANCE_DRIFT: ReadonlySet<string> = new Set<DriftReason>(["AMIDrift", "SecurityGroupDrift", "SubnetDrift"]);

/** Why the claim has drifted after the change. */
function driftOf(claim: NodeClaim, poolName: string, definitions: Definitions): DriftReason | undefined {
  const { snapshot } = definitions;
  const find = <T extends Named>(list: readonly T[], name: string | undefined): T | undefined =>
    list.find(({ metadata }) => metadata.name === name);
  const nodePool = find(snapshot.nodePools, poolName);
  if (nodePool === undefined) return undefined;
  const oldPool = find(definitions.before.nodePools, poolName) ?? nodePool;
  const className = nodePool.spec.template.spec.nodeClassRef.name;
  const nodeClass = find(definitions.classes, className);
  const oldClass = find(definitions.nodeClasses, className);
  const byPool = comparable(claim, oldPool, nodePool, {
    ...{ hash: NODE_POOL_HASH, version: NODE_POOL_HASH_VERSION, current: NODE_POOL_HASH_VERSION_VALUE },
    ...{ old: nodePoolHash(oldPool), now: nodePoolHash(nodePool) },
  });
  const byClass =
    oldClass === undefined || nodeClass === undefined
      ? { claim: byPool.claim, owner: nodeClass }
      : comparable(byPool.claim, oldClass, nodeClass, {
          ...{ hash: NODE_CLASS_HASH_KEY, version: NODE_CLASS_HASH_VERSION_KEY, current: NODE_CLASS_HASH_VERSION },
          ...{ old: nodeClassHash(oldClass), now: nodeClassHash(nodeClass) },
        });
  const found = driftReason({
    claim: byClass.claim,
    nodePool: byPool.owner,
    nodeClass: byClass.owner,
    instanceTypes: snapshot.instanceTypes.get(poolName) ?? [],
    now: snapshot.now,
  });
  const known = conditionOf(claim.status?.conditions, "Drifted");
  const kept = known?.status === "True" && INSTANCE_DRIFT.has(known.reason ?? "") ? (known.reason as DriftReason) : undefined;
  return found ?? kept;
}

/** The hash of an owner: a NodePool or an EC2NodeClass. */
interface Hashes {
  /** Names of the annotations with the hash and the hash version, and the current hash version. */
  readonly hash: string;
  readonly version: string;
  readonly current: string;
  /** Hashes of the owner before and after the change. */
  readonly old: string;
  readonly now: string;
}

/**
 * Claim and owner with comparable hash annotations. An owner that the change does not alter keeps the hash from the
 * cluster, because a part of it may be unknown here (the cluster's CA bundle).
 */
function comparable<T extends Named>(claim: NodeClaim, old: T, owner: T, hashes: Hashes): { readonly claim: NodeClaim; readonly owner: T } {
  const given = claim.metadata.annotations ?? {};
  const ours = old.metadata.annotations?.[hashes.hash];
  if (hashes.old === hashes.now) {
    const annotations = { ...owner.metadata.annotations, ...(ours !== undefined && { [hashes.hash]: ours }) };
    return { claim, owner: { ...owner, metadata: { ...owner.metadata, annotations } } };
  }
  const own = given[hashes.version] === hashes.current ? given[hashes.hash] : undefined;
  // The claim matches its owner before the change, unless their hashes differ.
  const made = own === undefined || own === ours ? hashes.old : own;
  const stamp = (hash: string) => ({ [hashes.hash]: hash, [hashes.version]: hashes.current });
  return {
    claim: { ...claim, metadata: { ...claim.metadata, annotations: { ...given, ...stamp(made) } } },
    owner: { ...owner, metadata: { ...owner.metadata, annotations: { ...owner.metadata.annotations, ...stamp(hashes.now) } } },
  };
}

/** The claim with its condition Drifted set or removed. */
function withDrift(claim: NodeClaim, reason: DriftReason | undefined, now: number): NodeClaim {
  const { conditions = [] } = claim.status ?? {};
  const next =
    reason === undefined
      ? withoutCondition(conditions, "Drifted")
      : withCondition(conditions, { type: "Drifted", status: "True", reason, message: reason }, { now });
  return next === conditions ? claim : { ...claim, status: { ...claim.status, conditions: next } };
}
