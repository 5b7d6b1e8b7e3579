import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import { afterRegistration, type FailedLaunch, hasNoBackoff, launchHold, withFailedLaunch } from "#core/node-pool/launch-backoff.ts";
import { isSteady, type RegistrationOutcome, withRegistration } from "#core/node-pool/registration-health.ts";
import type { LostPurchase } from "#core/provisioning/purchases.ts";
import type { ClusterDeps } from "./cluster-deps.ts";
import { ignoreConflict, retryOnConflict } from "./optimistic.ts";
import { ProcessMemory } from "./process-memory.ts";
import { publishOnce } from "./publish-once.ts";
import { keepLostPurchases } from "./purchases.ts";
import { writeStatus } from "./write-status.ts";

const MAX_TRIES = 3;

type Deps = Pick<ClusterDeps, "cluster" | "kubernetes" | "store" | "log" | "memory" | "invocation" | "now">;

/** What an outcome changes of its NodePool. */
type PoolChange = (pool: NodePool, now: number) => NodePool;

/**
 * Records on the NodePool how a NodeClaim's registration ended
 * (karpenter: pkg/controllers/nodeclaim/lifecycle/registration.go, Registration.updateNodePoolRegistrationHealth). Only
 * informational: a failure is logged, and nodes register all the same. NodeClaims of one invocation that register at
 * the same moment share one read and one write: of many nodes at once, each would otherwise race all others.
 */
export async function recordRegistrationHealth(claim: NodeClaim, outcome: RegistrationOutcome, deps: Deps): Promise<void> {
  const owner = poolOf(claim);
  // Nodes that join together succeed for the same NodePool: for some seconds one success counts for all.
  if (owner === undefined || (outcome.registered && deps.memory.recall("healthyNodePools", deps.now(), { key: owner.uid }))) return;
  return changePool(
    owner,
    (pool, now) => {
      const after = withRegistration(pool, outcome, now);
      return outcome.registered ? afterRegistration(after) : after;
    },
    deps,
  );
}

/**
 * Records on the NodePool that a machine was bought for nothing, so that the NodePool waits before it buys again
 * (core/node-pool/launch-backoff.ts).
 */
export async function recordFailedLaunch(
  { name, manifest, createdAt, podUids }: NodeClaimRecord,
  end: FailedLaunch["end"],
  deps: Deps,
): Promise<void> {
  const owner = poolOf(manifest);
  if (owner === undefined) return;
  const change: PoolChange = (pool, now) => withFailedLaunch(pool, { end, plannedAt: createdAt }, now);
  await changePool(owner, change, deps, podUids.length === 0 ? [] : [{ nodeClaim: name, podUids }]);
}

interface Batch {
  readonly changes: readonly PoolChange[];
  readonly lost: readonly LostPurchase[];
}

interface Owner {
  readonly name: string;
  readonly uid: string;
}

const poolOf = ({ metadata }: NodeClaim): Owner | undefined => metadata.ownerReferences?.find(({ kind }) => kind === "NodePool");

async function changePool(owner: Owner, change: PoolChange, deps: Deps, lost: readonly LostPurchase[] = []): Promise<void> {
  const { cluster, now, invocation = new ProcessMemory() } = deps;
  const key = `${cluster.name}/${owner.uid}`;
  const last = invocation.recall("registrationBatches", now(), { key });
  if (last !== undefined && !last.isClosed) {
    last.changes.push(change);
    last.lost.push(...lost);
    return last.written;
  }
  const changes = [change];
  const take = (): Batch => {
    batch.isClosed = true;
    return batch;
  };
  const written = (last?.written ?? Promise.resolve()).then(() => record(owner, take, deps));
  const batch = { changes, lost: [...lost], isClosed: false, written };
  invocation.keep("registrationBatches", batch, now(), key);
  return written;
}

/** @param take gives the changes, and no others are added from then on */
async function record({ name, uid }: Owner, take: () => Batch, deps: Deps): Promise<void> {
  try {
    const once = async (): Promise<void> => {
      const pool = await deps.kubernetes.get("NodePool", name);
      if (pool === undefined || pool.metadata.uid !== uid) return;
      const { changes, lost } = take();
      if (lost.length > 0) await keepLostPurchases(lost, deps);
      const after = changes.reduce((one, change) => change(one, deps.now()), pool);
      await write(pool, after, deps);
      if (isSteady(after) && hasNoBackoff(after)) deps.memory.keep("healthyNodePools", true, deps.now(), uid);
      else deps.memory.forget("healthyNodePools", uid);
    };
    await ignoreConflict(retryOnConflict(MAX_TRIES, once));
  } catch (error) {
    deps.log.error("failed telling a NodePool how a registration ended", { NodePool: { name }, error });
  } finally {
    take();
  }
}

/** Writes only what differs. Throws ConflictError when another has written the NodePool since it was read. */
async function write(before: NodePool, after: NodePool, deps: Deps): Promise<void> {
  const isMarked = after.metadata !== before.metadata;
  const marked = isMarked ? await deps.kubernetes.update("NodePool", after) : before;
  if (after.status && after.status.conditions !== before.status?.conditions) {
    await writeStatus("NodePool", { ...marked, status: after.status }, before.status?.conditions, deps);
  }
  const hold = isMarked ? launchHold(after, deps.now()) : undefined;
  if (hold === undefined) return;
  const about = { kind: "NodePool", metadata: after.metadata } as const;
  await publishOnce({ type: "Warning", reason: "LaunchBackOff", message: `NodePool ${hold.text}`, about }, deps);
}
