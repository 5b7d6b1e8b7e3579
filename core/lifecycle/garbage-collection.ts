import { isTrue } from "../model/conditions.ts";
import type { Instance } from "../model/instance.ts";
import { TERMINATION_FINALIZER } from "../model/labels.ts";
import type { Node } from "../model/node.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import { CLAIM_UID_TAG, NODE_CLAIM_TAG } from "../model/tags.ts";

/** Older than the longest chain of retries around a launch (traps.md 22): an instance that no claim owns by then has none coming. */
const ORPHAN_AGE_MS = 5 * 60_000;

/** The three records of a cluster's nodes, side by side. Claims must have been read before instances. */
export interface Inventory {
  readonly records: readonly NodeClaimRecord[];
  readonly claims: readonly NodeClaim[];
  /** Registered ones. */
  readonly nodes: readonly Node[];
  /** Instances that carry the cluster's tags. */
  readonly instances: readonly Instance[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Whether an instance is up, or may come up again. */
export function isAlive({ state }: Instance): boolean {
  return state !== "terminated" && state !== "shutting-down";
}

/** The id in "aws:///ZONE/ID". */
export function instanceIdOf(providerId: string | undefined): string | undefined {
  return providerId?.slice(providerId.lastIndexOf("/") + 1) || undefined;
}

/** Fewer than this may have been taken away one by one. */
const FEW = 2;

/** What has lost its counterpart: to be cleared away, or kept since so much at once is taken for an accident that a person must judge. */
export interface Lost<T> {
  readonly ended: readonly T[];
  readonly held: readonly T[];
}

/** More than half of all at once is no wish of anybody's: definitions were deleted, a table emptied, a backup restored. */
function unlessAccident<T>(lost: readonly T[], all: number): Lost<T> {
  return lost.length >= FEW && lost.length * 2 > all ? { ended: [], held: lost } : { ended: lost, held: [] };
}

/**
 * Machines that neither a record nor a claim owns, nor one that is about to tell of its launch. A claim counts without its record, so that a lost table
 * ends no machine before its claims have been taken into care again. Machines that have been let into the cluster are held when most lose both at once.
 */
export function orphanInstances({ records, claims, nodes, instances, now }: Inventory): Lost<Instance> {
  const owned = ownedIds({ records, claims });
  // A launch whose answer was not stored yet belongs to the claim that its tags name.
  const names = new Set(records.filter(({ instance }) => instance === undefined).map(({ name }) => name));
  const uids = new Set(claims.filter(({ status }) => !status?.providerID).map(({ metadata }) => metadata.uid));
  const isAwaited = ({ tags }: Instance): boolean => names.has(tags[NODE_CLAIM_TAG] ?? "") || uids.has(tags[CLAIM_UID_TAG] ?? "none");
  const alive = instances.filter(isAlive);
  const orphans = alive.filter((instance) => now - instance.launchedAt > ORPHAN_AGE_MS && !owned.has(instance.id) && !isAwaited(instance));
  const registered = new Set(nodes.map(({ spec }) => instanceIdOf(spec.providerID)));
  const [members = [], strangers = []] = [true, false].map((is) => orphans.filter(({ id }) => registered.has(id) === is));
  const { ended, held } = unlessAccident(members, alive.length);
  return { ended: [...ended, ...strangers], held };
}

/**
 * Records of registered claims whose machine is not listed: EC2 must be asked by id before they are given up, for a listing may lag behind. One whose
 * node is Ready still is left alone (nodeclaim-lifecycle.md §8).
 */
export function withoutMachine({ records, claims, nodes, instances }: Inventory): readonly NodeClaimRecord[] {
  const alive = new Set(instances.filter(isAlive).map(({ id }) => id));
  const claimByName = new Map(claims.map((claim) => [claim.metadata.name, claim]));
  const ready = new Set(nodes.filter(isReady).map(({ spec }) => instanceIdOf(spec.providerID)));
  return records.filter(({ name, instance, terminating }) => {
    if (instance === undefined || terminating !== undefined || alive.has(instance.id) || ready.has(instance.id)) return false;
    return isTrue(claimByName.get(name)?.status?.conditions, "Registered");
  });
}

/** What to do about a registered node that has neither claim nor machine. */
export interface OwnerlessNode {
  readonly node: Node;
  /** "delete" asks for its deletion; "free" takes our finalizer off one that is being deleted, which nobody else would. */
  readonly action: "delete" | "free";
}

/** Nodes that were let in for a claim that is no more, on machines that are no more. */
export function ownerlessNodes({ records, claims, nodes, instances }: Inventory): readonly OwnerlessNode[] {
  const owned = ownedIds({ records, claims });
  const alive = new Set(instances.filter(isAlive).map(({ id }) => id));
  return nodes.flatMap((node): OwnerlessNode[] => {
    const id = instanceIdOf(node.spec.providerID);
    if (id === undefined || owned.has(id) || alive.has(id)) return [];
    if (node.metadata.deletionTimestamp === undefined) return isReady(node) ? [] : [{ node, action: "delete" }];
    return node.metadata.finalizers?.includes(TERMINATION_FINALIZER) ? [{ node, action: "free" }] : [];
  });
}

function ownedIds({ records, claims }: Pick<Inventory, "records" | "claims">): ReadonlySet<string> {
  return new Set([
    ...records.flatMap(({ instance }) => (instance ? [instance.id] : [])),
    ...claims.flatMap(({ status }) => instanceIdOf(status?.providerID) ?? []),
  ]);
}

function isReady({ status }: Node): boolean {
  return isTrue(status?.conditions, "Ready");
}

/**
 * Records whose custom resource was there and is no more, its finalizer taken off by force: nobody else will tell that their machine must go. When most
 * vanish at once their machines are held: `rebuild` makes the claims again.
 */
export function vanishedClaims({ records, claims }: Pick<Inventory, "records" | "claims">): Lost<NodeClaimRecord> {
  const there = new Set(claims.map(({ metadata }) => metadata.name));
  const told = records.filter(({ uid, terminating }) => uid !== undefined && terminating === undefined);
  return unlessAccident(
    told.filter(({ name }) => !there.has(name)),
    told.length,
  );
}
