import { rolloutOfPool } from "#core/drift/rollout.ts";
import { equalJson } from "#core/lib/json.ts";
import { conditionOf, isTrue } from "#core/model/conditions.ts";
import { NODE_POOL, NODE_POOL_HASH, NODE_POOL_HASH_VERSION } from "#core/model/labels.ts";
import type { NodePool, NodePoolStatus } from "#core/model/node-pool.ts";
import { NODE_POOL_HASH_VERSION_VALUE, nodePoolHash } from "#core/node-pool/hash.ts";
import { withClusterSchedule } from "#core/node-pool/schedule.ts";
import { nodePoolStatus, type PoolContext } from "#core/node-pool/status.ts";
import { ignoreConflictOrGone, retryOnConflict } from "../shared/optimistic.ts";
import { scheduleOf } from "../shared/schedule-of.ts";
import { writeStatus } from "../shared/write-status.ts";
import { definitionWakeUps } from "./definition-wake-ups.ts";
import type { CatalogDeps } from "./deps.ts";
import { type HashAnnotations, moveClaims, withHash } from "./hash-annotations.ts";

/** A user's edit, the run that it wakes and another run may meet: all start from the NodePool as it was. */
const MAX_TRIES = 3;

/**
 * Refreshes a NodePool's hash and status. Writes only what has changed; what it cannot write is left to the next pass.
 */
export async function refreshNodePool(pool: NodePool, context: PoolContext, deps: CatalogDeps): Promise<void> {
  let listed: NodePool | undefined = pool;
  const refresh = async (): Promise<void> => {
    const latest = listed ?? (await deps.kubernetes.get("NodePool", pool.metadata.name));
    listed = undefined;
    if (latest !== undefined) await refreshOnce(latest, context, deps);
  };
  await ignoreConflictOrGone(retryOnConflict(MAX_TRIES, refresh));
}

/**
 * Throws ConflictError when another has written the NodePool since it was read, NotFoundError when it no longer exists.
 */
async function refreshOnce(pool: NodePool, context: PoolContext, deps: CatalogDeps): Promise<void> {
  const { wakeUps, cluster } = deps;
  if (pool.metadata.deletionTimestamp !== undefined) return;
  const current = await mark(pool, context, deps);
  const own = context.nodeClaims.filter(({ metadata }) => metadata.labels?.[NODE_POOL] === current.metadata.name);
  const [scheduled = current] = withClusterSchedule([current], scheduleOf(cluster.name, deps.settings));
  const status = nodePoolStatus(scheduled, { ...context, rollout: rolloutOfPool(current, context.nodeClass, own) });
  if (equalJson(status, current.status ?? {})) return;
  await writeStatus("NodePool", { ...current, status }, current.status?.conditions, deps);
  const before = conditionOf(current.status?.conditions, "Ready");
  const isNew = isNewSpec(current) || asleep(status) !== asleep(current.status);
  const cause = before?.status !== "True" ? "NodePoolReady" : isNew ? "NodePoolChanged" : undefined;
  if (cause !== undefined && isTrue(status.conditions, "Ready"))
    await wakeUps.wake(definitionWakeUps(cluster.name, cause, "NodePool", pool.metadata.name));
}

/** The condition Asleep: when it turns, pods wait for nodes or nodes go. */
const asleep = (status: NodePoolStatus | undefined): string => conditionOf(status?.conditions, "Asleep")?.status ?? "False";

/**
 * Whether the NodePool's spec has changed since its status was written: limits and requirements decide about pods,
 * budgets and consolidateAfter about nodes, the template about both.
 */
function isNewSpec({ metadata, status }: NodePool): boolean {
  return conditionOf(status?.conditions, "Ready")?.observedGeneration !== metadata.generation;
}

async function mark(pool: NodePool, { nodeClaims }: PoolContext, { kubernetes }: CatalogDeps): Promise<NodePool> {
  const hash: HashAnnotations = {
    hashKey: NODE_POOL_HASH,
    versionKey: NODE_POOL_HASH_VERSION,
    hash: nodePoolHash(pool),
    version: NODE_POOL_HASH_VERSION_VALUE,
  };
  const annotations = withHash(pool, hash);
  if (annotations === undefined) return pool;
  if (pool.metadata.annotations?.[hash.versionKey] !== hash.version) {
    const own = nodeClaims.filter(({ metadata }) => metadata.labels?.[NODE_POOL] === pool.metadata.name);
    await moveClaims(own, hash, kubernetes);
  }
  return kubernetes.update("NodePool", { ...pool, metadata: { ...pool.metadata, annotations } });
}
