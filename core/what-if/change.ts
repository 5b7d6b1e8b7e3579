import { type DriftReason, driftReason } from "../drift/detect.ts";
import { conditionOf, isTrue, rfc3339, withCondition, withoutCondition } from "../model/conditions.ts";
import { NODE_POOL, NODE_POOL_HASH, NODE_POOL_HASH_VERSION } from "../model/labels.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { EC2NodeClass } from "../model/node-class.ts";
import type { NodePool } from "../model/node-pool.ts";
import type { Snapshot } from "../model/snapshot.ts";
import type { PodDisruptionBudget } from "../model/workloads.ts";
import { NODE_CLASS_HASH_KEY, NODE_CLASS_HASH_VERSION, NODE_CLASS_HASH_VERSION_KEY, nodeClassHash } from "../node-class/hash.ts";
import { NODE_POOL_HASH_VERSION_VALUE, nodePoolHash } from "../node-pool/hash.ts";

/** What is different in thought. Objects take the place of those of their name, or come as new ones. */
export interface Change {
  readonly nodePools?: readonly NodePool[];
  readonly nodeClasses?: readonly EC2NodeClass[];
  readonly podDisruptionBudgets?: readonly PodDisruptionBudget[];
  /** Names of NodePools that are deleted; as in the API, their nodes go with them. */
  readonly deletedPools?: readonly string[];
  /** What pools can buy then; as before unless given. */
  readonly instanceTypes?: Snapshot["instanceTypes"];
}

/** A node that is no longer what its pool asks for. */
export interface DriftedNode {
  readonly nodeClaim: string;
  /** Empty where the claim has none. */
  readonly node: string;
  readonly nodePool: string;
  readonly reason: DriftReason;
}

/** The cluster with the change, before anything was done about it. */
export interface Changed {
  readonly snapshot: Snapshot;
  /** Nodes that drift for the change, in the order of their claims; those that had drifted before are left out. */
  readonly drifted: readonly DriftedNode[];
}

/**
 * Applies a change in thought, with what the catalog and disruption functions would make of it at once: hashes, and the condition Drifted of claims whose
 * pool or class it touches. Where a claim's hash follows other rules, or it has none, it is taken to be made of its pool as that was.
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
  const scene = { before, nodeClasses, snapshot, classes, touched: touchedBy(change, pools) };
  const drifted: DriftedNode[] = [];
  const nodeClaims = before.nodeClaims.map((claim) => {
    const nodePool = claim.metadata.labels?.[NODE_POOL] ?? "";
    if (deleted.has(nodePool)) return { ...claim, metadata: { deletionTimestamp: rfc3339(before.now), ...claim.metadata } };
    if (!scene.touched.has(nodePool)) return claim;
    const reason = driftOf(claim, nodePool, scene);
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

/** Objects as they are after a change: of those that are replaced, what the API server and the controllers know of them stays. */
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

/** A pool that is new is taken to become ready. */
function asUsable(pool: NodePool): NodePool {
  return pool.status === undefined ? { ...pool, status: { conditions: [{ type: "Ready", status: "True" }] } } : pool;
}

/** Names of pools that are changed themselves, or whose class is. */
function touchedBy({ nodePools = [], nodeClasses = [], instanceTypes }: Change, pools: readonly NodePool[]): ReadonlySet<string> {
  const classes = new Set(nodeClasses.map(({ metadata }) => metadata.name));
  const names = pools.filter(({ spec }) => instanceTypes !== undefined || classes.has(spec.template.spec.nodeClassRef.name));
  return new Set([...nodePools, ...names].map(({ metadata }) => metadata.name));
}

interface Scene {
  readonly before: Snapshot;
  readonly nodeClasses: readonly EC2NodeClass[];
  readonly snapshot: Snapshot;
  readonly classes: readonly EC2NodeClass[];
}

/** Drift that only the machine's own facts could tell, and that a change of definitions does not mend. */
const OF_THE_MACHINE: ReadonlySet<string> = new Set<DriftReason>(["AMIDrift", "SecurityGroupDrift", "SubnetDrift"]);

function driftOf(claim: NodeClaim, poolName: string, scene: Scene): DriftReason | undefined {
  const { snapshot } = scene;
  const find = <T extends Named>(list: readonly T[], name: string | undefined): T | undefined =>
    list.find(({ metadata }) => metadata.name === name);
  const nodePool = find(snapshot.nodePools, poolName);
  if (nodePool === undefined) return undefined;
  const oldPool = find(scene.before.nodePools, poolName) ?? nodePool;
  const className = nodePool.spec.template.spec.nodeClassRef.name;
  const nodeClass = find(scene.classes, className);
  const oldClass = find(scene.nodeClasses, className);
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
  const kept = known?.status === "True" && OF_THE_MACHINE.has(known.reason ?? "") ? (known.reason as DriftReason) : undefined;
  return found ?? kept;
}

interface Hashes {
  /** Annotations of the hash and of its rules' version, and the version that is in force. */
  readonly hash: string;
  readonly version: string;
  readonly current: string;
  /** Hashes of the owner before and after the change. */
  readonly old: string;
  readonly now: string;
}

/**
 * Claim and owner with hashes that can be compared. An owner that the change leaves alike keeps the hash that the cluster gave it: part of it may not be
 * known here (the cluster's CA bundle).
 */
function comparable<T extends Named>(claim: NodeClaim, old: T, owner: T, hashes: Hashes): { readonly claim: NodeClaim; readonly owner: T } {
  const given = claim.metadata.annotations ?? {};
  const ours = old.metadata.annotations?.[hashes.hash];
  if (hashes.old === hashes.now) {
    const annotations = { ...owner.metadata.annotations, ...(ours !== undefined && { [hashes.hash]: ours }) };
    return { claim, owner: { ...owner, metadata: { ...owner.metadata, annotations } } };
  }
  const own = given[hashes.version] === hashes.current ? given[hashes.hash] : undefined;
  // What the claim was made of is its owner as that was, unless their hashes say otherwise.
  const made = own === undefined || own === ours ? hashes.old : own;
  const stamp = (hash: string) => ({ [hashes.hash]: hash, [hashes.version]: hashes.current });
  return {
    claim: { ...claim, metadata: { ...claim.metadata, annotations: { ...given, ...stamp(made) } } },
    owner: { ...owner, metadata: { ...owner.metadata, annotations: { ...owner.metadata.annotations, ...stamp(hashes.now) } } },
  };
}

function withDrift(claim: NodeClaim, reason: DriftReason | undefined, now: number): NodeClaim {
  const { conditions = [] } = claim.status ?? {};
  const next =
    reason === undefined
      ? withoutCondition(conditions, "Drifted")
      : withCondition(conditions, { type: "Drifted", status: "True", reason, message: reason }, { now });
  return next === conditions ? claim : { ...claim, status: { ...claim.status, conditions: next } };
}
