import { LAUNCH_UNLISTED_MS } from "../launch/attempt.ts";
import { isTrue } from "../model/conditions.ts";
import { type Instance, instanceIdOf } from "../model/instance.ts";
import { TERMINATION_FINALIZER } from "../model/labels.ts";
import type { Node } from "../model/node.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import { CLAIM_UID_TAG, LAUNCH_GROUP_TAG, NODE_CLAIM_TAG } from "../model/tags.ts";

/**
 * Minimum age of an instance that garbage collection may terminate: longer than any chain of retries around a launch,
 * so that no record or NodeClaim can still be written for it.
 */
const MIN_ORPHAN_AGE_MS = 5 * 60_000;

/** Records, NodeClaims, nodes and instances of one cluster. NodeClaims must be read before instances. */
export interface Inventory {
  readonly records: readonly NodeClaimRecord[];
  /** Names of NodeClaims whose record cannot be read: their instances are not garbage. */
  readonly unreadable?: ReadonlySet<string>;
  readonly claims: readonly NodeClaim[];
  /** Registered nodes, without those that another controller launched. */
  readonly nodes: readonly Node[];
  /** Instances that carry the cluster's tags. */
  readonly instances: readonly Instance[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Whether an instance runs, or may run again. */
export function isAlive({ state }: Instance): boolean {
  return state !== "terminated" && state !== "shutting-down";
}

/** A loss of fewer objects is never taken for an accident. */
const MIN_ACCIDENT_LOSS = 2;

/**
 * Objects that lost their counterpart: `ended` is removed; `held` is kept, because so many lost at once look like an
 * accident that a person must judge.
 */
interface Lost<T> {
  readonly ended: readonly T[];
  readonly held: readonly T[];
}

/**
 * A loss of more than half of all objects at once is taken for an accident: CRDs were deleted, a table was emptied, a
 * backup was restored.
 */
function unlessAccident<T>(lost: readonly T[], all: number): Lost<T> {
  return lost.length >= MIN_ACCIDENT_LOSS && lost.length * 2 > all ? { ended: [], held: lost } : { ended: lost, held: [] };
}

/**
 * Instances that neither a record nor a NodeClaim owns, and that no launch in progress will claim. A NodeClaim without
 * a record also owns its instance, so that a lost table terminates no instance before its NodeClaims are adopted.
 * Instances with a registered node are held when most lose their owners at once.
 */
export function orphanInstances({ records, unreadable, claims, nodes, instances, now }: Inventory): Lost<Instance> {
  const owned = ownedIds({ records, claims });
  // A launch whose answer is not stored yet belongs to the NodeClaim that the instance's tags name.
  const names = new Set(records.filter(({ instance }) => instance === undefined).map(({ name }) => name));
  const uids = new Set(claims.filter(({ status }) => !status?.providerID).map(({ metadata }) => metadata.uid));
  // The same of a launch of several: until each member has its instance or none, each of the group's may be its own.
  const groups = new Set(records.flatMap(({ instance, launchGroup }) => (instance === undefined && launchGroup ? [launchGroup.id] : [])));
  const isAwaited = ({ tags }: Instance): boolean =>
    isOfGroup(tags, groups, unreadable) ||
    names.has(tags[NODE_CLAIM_TAG] ?? "") ||
    unreadable?.has(tags[NODE_CLAIM_TAG] ?? "") ||
    uids.has(tags[CLAIM_UID_TAG] ?? "none");
  const alive = instances.filter(isAlive);
  const orphans = alive.filter(
    (instance) => now - instance.launchedAt > MIN_ORPHAN_AGE_MS && !owned.has(instance.id) && !isAwaited(instance),
  );
  const registered = new Set(nodes.map(({ spec }) => instanceIdOf(spec.providerID)));
  const [members = [], strangers = []] = [true, false].map((is) => orphans.filter(({ id }) => registered.has(id) === is));
  const { ended, held } = unlessAccident(members, alive.length);
  return { ended: [...ended, ...strangers], held };
}

/**
 * Whether an instance without tags of its own NodeClaim may be that of a member of one of these groups, or of a
 * NodeClaim whose record cannot be read.
 */
function isOfGroup(tags: Instance["tags"], groups: ReadonlySet<string>, unreadable: ReadonlySet<string> | undefined): boolean {
  const group = tags[LAUNCH_GROUP_TAG];
  if (group === undefined || tags[NODE_CLAIM_TAG] !== undefined) return false;
  return groups.has(group) || (unreadable?.size ?? 0) > 0;
}

/**
 * Records whose instance is not listed as one that runs, or may run again. The caller asks EC2 by id before it gives
 * them up, because a listing may lag behind. A record whose node is still Ready is left out
 * (karpenter: pkg/controllers/nodeclaim/garbagecollection/controller.go, Controller.Reconcile).
 */
export function withoutMachine({ records, nodes, instances }: Inventory): readonly NodeClaimRecord[] {
  const alive = new Set(instances.filter(isAlive).map(({ id }) => id));
  const ready = new Set(nodes.filter(isReady).map(({ spec }) => instanceIdOf(spec.providerID)));
  return records.filter(
    ({ instance, terminating }) =>
      instance !== undefined && terminating === undefined && !alive.has(instance.id) && !ready.has(instance.id),
  );
}

/**
 * Why a record of `withoutMachine` ends, given what EC2 says of its instance; undefined when it stays. That EC2 does
 * not know an instance is enough only once its node was registered and EC2 must list the launch: a node may register
 * earlier.
 */
export function lossOf(
  { name, launchedAt = 0 }: NodeClaimRecord,
  { found, claims, now }: Pick<Inventory, "claims" | "now"> & { readonly found: Instance | undefined },
): "garbage_collected" | "instance_terminated" | undefined {
  if (found === undefined && now - launchedAt < LAUNCH_UNLISTED_MS) return undefined;
  if (found !== undefined && isAlive(found)) return undefined;
  const claim = claims.find(({ metadata }) => metadata.name === name);
  if (isTrue(claim?.status?.conditions, "Registered")) return "garbage_collected";
  return found === undefined ? undefined : "instance_terminated";
}

/**
 * Records whose instance a user has stopped. EC2 sends a message about it, which finds no NodeClaim when it arrives
 * before the record can be found by its instance.
 */
export function stoppedMachines({ records, instances }: Inventory): readonly NodeClaimRecord[] {
  const stopped = new Set(instances.filter(({ state }) => state === "stopping" || state === "stopped").map(({ id }) => id));
  return records.filter(({ instance, terminating }) => instance !== undefined && terminating === undefined && stopped.has(instance.id));
}

/** What to do about a registered node that has neither a NodeClaim nor an instance. */
interface OwnerlessNode {
  readonly node: Node;
  /**
   * "delete" requests its deletion; "free" removes our finalizer from a node that is being deleted, because no other
   * controller does.
   */
  readonly action: "delete" | "free";
}

/** Registered nodes whose NodeClaim and instance no longer exist. */
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
 * Records whose NodeClaim vanished: its finalizer was removed by force, so no other event says that the instance must
 * be terminated. When most vanish at once, their instances are held; `karpenter-serverless rebuild` creates the
 * NodeClaims again.
 */
export function vanishedClaims({ records, claims }: Pick<Inventory, "records" | "claims">): Lost<NodeClaimRecord> {
  const there = new Set(claims.map(({ metadata }) => metadata.name));
  const created = records.filter(({ uid, terminating }) => uid !== undefined && terminating === undefined);
  return unlessAccident(
    created.filter(({ name }) => !there.has(name)),
    created.length,
  );
}
