import { canonicalJson } from "../../core/lib/fnv.ts";
import { conditionOf, isTrue } from "../../core/model/conditions.ts";
import { NODE_CLASS_GROUP, NODE_POOL, NODE_POOL_HASH, NODE_POOL_HASH_VERSION } from "../../core/model/labels.ts";
import type { NodePool } from "../../core/model/node-pool.ts";
import { NODE_POOL_HASH_VERSION_VALUE, nodePoolHash } from "../../core/node-pool/hash.ts";
import { nodePoolStatus, type PoolContext } from "../../core/node-pool/status.ts";
import { isStatic } from "../../core/static-capacity/claim.ts";
import type { CatalogDeps } from "./deps.ts";
import { type HashAnnotations, moveClaims, tolerant, withHash } from "./hash-annotations.ts";

/** A person's edit and the run that it wakes may meet another run: both begin with the pool as it was. */
const TRIES = 3;

/** Brings a pool's hash and status up to date; pools of other clouds' classes are left alone. Writes only what has changed. */
export async function refreshNodePool(pool: NodePool, context: PoolContext, deps: CatalogDeps): Promise<void> {
  let latest: NodePool | undefined = pool;
  for (let tries = 1; latest !== undefined && tries <= TRIES; tries++) {
    if (await refreshOnce(latest, context, deps)) return;
    latest = await deps.kubernetes.get("NodePool", pool.metadata.name);
  }
}

/** False when somebody else has written the pool meanwhile. */
async function refreshOnce(pool: NodePool, context: PoolContext, deps: CatalogDeps): Promise<boolean> {
  const { kubernetes, wakeUps, cluster } = deps;
  if (pool.spec.template.spec.nodeClassRef.group !== NODE_CLASS_GROUP || pool.metadata.deletionTimestamp !== undefined) return true;
  const current = await mark(pool, context, deps);
  if (current === undefined) return false;
  const status = nodePoolStatus(current, context);
  if (canonicalJson(status) === canonicalJson(current.status ?? {})) return true;
  if ((await tolerant(() => kubernetes.updateStatus("NodePool", { ...current, status }))) === undefined) return false;
  if (isTrue(status.conditions, "Ready") && isNews(current)) {
    await wakeUps.wake([{ kind: "provision", cluster: cluster.name, cause: "NodePoolReady", detail: pool.metadata.name }]);
  }
  return true;
}

/** A pool that was not known to be ready, or one whose number of replicas may have been changed: both may want nodes now. */
function isNews(pool: NodePool): boolean {
  const ready = conditionOf(pool.status?.conditions, "Ready");
  return ready?.status !== "True" || (isStatic(pool) && ready.observedGeneration !== pool.metadata.generation);
}

async function mark(pool: NodePool, { nodeClaims }: PoolContext, { kubernetes }: CatalogDeps): Promise<NodePool | undefined> {
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
  return tolerant(() => kubernetes.update("NodePool", { ...pool, metadata: { ...pool.metadata, annotations } }));
}
