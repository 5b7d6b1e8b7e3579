import type { EC2NodeClass } from "#core/model/node-class.ts";
import { standingIn } from "#core/node-class/capacity-reservations.ts";
import type { WakeUp } from "#core/ports/wake-ups.ts";
import { collectProfiles } from "./collect-profiles.ts";
import type { CatalogDeps } from "./deps.ts";
import { type Memory, refreshNodeClass } from "./node-classes.ts";
import { type Judged, judgeOverlays, refreshNodeOverlay } from "./node-overlays.ts";
import { refreshNodePool } from "./node-pools.ts";
import { cappedPrices } from "./pool-prices.ts";
import type { LookUpContext } from "./resolve-node-class.ts";
import { noteMemory } from "./seen-memory.ts";

/**
 * Refreshes a cluster's EC2NodeClasses, NodePools and NodeOverlays: what the classes' selectors find, whether nodes can
 * be launched from them, the resources that each NodePool's nodes add up to, and which overlays are applied. It may be
 * repeated or killed at any point: each object is refreshed by itself, and a failure of one does not keep the others
 * from it. The first failure is thrown at the end.
 */
export async function refreshNodeClasses(deps: CatalogDeps, memory: Memory): Promise<void> {
  const wakeUps: WakeUp[] = [];
  try {
    await refreshAll({ ...deps, wakeUps: { wake: async (asked) => void wakeUps.push(...asked) } }, memory);
  } finally {
    // Many definitions may have changed at a time, and one plan serves all of them. Their statuses are written, so
    // that no later pass sends these wake-ups.
    if (wakeUps.length > 0) await deps.wakeUps.wake(wakeUps).catch(() => deps.wakeUps.wake(wakeUps));
  }
}

async function refreshAll(deps: CatalogDeps, memory: Memory): Promise<void> {
  const { kubernetes, inventory, cluster, log } = deps;
  const now = deps.now();
  const [nodeClasses, nodePools, nodeClaims, nodes, catalogue] = await Promise.all([
    kubernetes.list("EC2NodeClass"),
    kubernetes.list("NodePool"),
    kubernetes.list("NodeClaim"),
    kubernetes.list("Node"),
    deps.catalogue(),
  ]);
  let version: Promise<string> | undefined;
  let held: Promise<ReadonlyMap<string, number>> | undefined;
  const standing = (): Promise<ReadonlyMap<string, number>> => {
    held ??= deps.store.list(cluster.name).then(standingIn);
    return held;
  };
  const context: LookUpContext = {
    inventory,
    cluster,
    region: catalogue.region,
    types: catalogue.types,
    settings: deps.settings,
    kubernetesVersion: () => {
      version ??= kubernetes.version();
      return version;
    },
    standing: deps.settings.reservedCapacity ? standing : undefined,
    now,
  };
  const failures: unknown[] = [];
  const attempt = async <T>(kind: string, name: string, body: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await body();
    } catch (error) {
      log.error(`failed refreshing ${kind}`, { [kind]: { name }, error: error instanceof Error ? error.message : String(error) });
      failures.push(error);
      return otherwise;
    }
  };
  const byName = new Map<string, EC2NodeClass>();
  await Promise.all(
    nodeClasses.map(async (nodeClass) => {
      const { name } = nodeClass.metadata;
      const body = async () => {
        const refreshed = await refreshNodeClass(nodeClass, nodeClaims, memory, context, deps);
        return refreshed && noteMemory(refreshed, { nodes, nodeClaims, catalogue }, deps);
      };
      const current = await attempt<EC2NodeClass | undefined>("EC2NodeClass", name, body, nodeClass);
      if (current !== undefined) byName.set(name, current);
    }),
  );
  const read = { nodePools, nodeClasses: [...byName.values()], nodeClaims, nodes };
  const prices = await attempt("NodePool", "", () => cappedPrices(read, deps), new Map<string, number>());
  await Promise.all(
    nodePools.map((pool) => {
      const { name } = pool.metadata;
      const nodeClass = byName.get(pool.spec.template.spec.nodeClassRef.name);
      const price = prices.get(name);
      const facts = { nodeClass, nodeClaims, nodes, now, ...(price !== undefined && { price }) };
      return attempt("NodePool", name, () => refreshNodePool(pool, facts, deps), undefined);
    }),
  );
  const judged = await attempt<readonly Judged[]>("NodeOverlay", "", () => judgeOverlays(nodePools, [...byName.values()], deps), []);
  await Promise.all(judged.map((item) => attempt("NodeOverlay", item[0].metadata.name, () => refreshNodeOverlay(item, deps), undefined)));
  await attempt("InstanceProfile", "", () => collectProfiles(nodeClasses, nodeClaims, catalogue.region, deps), undefined);
  if (failures.length > 0) throw failures[0];
}
