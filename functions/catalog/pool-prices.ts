import { instanceTypesByPool } from "#adapters/kubernetes/snapshot.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import { maxPricePerHour } from "#core/node-pool/max-price.ts";
import { nodeViews } from "#core/scheduling/problem/node-view.ts";
import { pricesByPool } from "#core/scheduling/problem/price-caps.ts";
import { instanceTypesFor } from "../shared/instance-types.ts";
import { overlaidTypes } from "../shared/overlaid-types.ts";
import type { CatalogDeps } from "./deps.ts";

/**
 * What the nodes of each NodePool with the annotation max-price-per-hour cost together, USD per hour, for its status;
 * empty, and nothing is computed, where no NodePool has it.
 */
export async function cappedPrices(
  {
    nodePools,
    nodeClasses,
    nodeClaims,
    nodes,
  }: {
    readonly nodePools: readonly NodePool[];
    readonly nodeClasses: readonly EC2NodeClass[];
    readonly nodeClaims: readonly NodeClaim[];
    readonly nodes: readonly Node[];
  },
  { kubernetes, settings, now, ...deps }: CatalogDeps,
): Promise<ReadonlyMap<string, number>> {
  const capped = nodePools.filter((pool) => maxPricePerHour(pool) !== undefined);
  if (capped.length === 0) return new Map();
  const [catalogue, overlays] = await Promise.all([deps.catalogue(), settings.nodeOverlay ? kubernetes.list("NodeOverlay") : []]);
  const listed = instanceTypesByPool(capped, nodeClasses, (_nodePool, nodeClass) => instanceTypesFor(catalogue, nodeClass, [], settings));
  const { instanceTypes } = overlays.length > 0 ? overlaidTypes(overlays, capped, listed) : { instanceTypes: listed };
  const none = { podDisruptionBudgets: [], persistentVolumeClaims: [], persistentVolumes: [], storageClasses: [], csiNodes: [] };
  const snapshot = {
    ...{ now: now(), nodePools: capped, nodes, nodeClaims, instanceTypes, pods: [], daemonSets: [], namespaces: [], ...none },
    ...{ nominated: new Map(), disrupting: new Set<string>() },
  };
  return new Map([...pricesByPool(snapshot, nodeViews(snapshot))].map(([pool, micros]) => [pool, micros / 1e6]));
}
