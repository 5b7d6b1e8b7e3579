import type { InstanceType } from "../../../core/model/instance-type.ts";
import { NODE_POOL } from "../../../core/model/labels.ts";
import type { NodeClaim } from "../../../core/model/node-claim.ts";
import type { EC2NodeClass } from "../../../core/model/node-class.ts";
import { instanceTypesByPool } from "../../adapters/kubernetes/snapshot.ts";
import type { LifecycleDeps } from "../../shared/cluster-deps.ts";
import { overlaidTypes } from "../../shared/overlaid-types.ts";

/**
 * What a claim may be launched as: `typesOf` its class, with what NodeOverlays change of it. Whether an overlay counts depends on all pools, so all are
 * read; a claim of no pool has none (as Karpenter's).
 */
export async function launchTypes(
  claim: NodeClaim,
  nodeClass: EC2NodeClass,
  typesOf: (nodeClass: EC2NodeClass) => readonly InstanceType[],
  { kubernetes, settings }: Pick<LifecycleDeps, "kubernetes" | "settings">,
): Promise<readonly InstanceType[]> {
  const own = typesOf(nodeClass);
  const pool = claim.metadata.labels?.[NODE_POOL];
  if (!settings.nodeOverlay || pool === undefined) return own;
  const overlays = await kubernetes.list("NodeOverlay");
  if (overlays.length === 0) return own;
  const [nodePools, nodeClasses] = await Promise.all([kubernetes.list("NodePool"), kubernetes.list("EC2NodeClass")]);
  const byPool = instanceTypesByPool(nodePools, nodeClasses, (_nodePool, other) => typesOf(other));
  // The pool may have another class by now than the claim.
  return overlaidTypes(overlays, nodePools, new Map([...byPool, [pool, own]])).instanceTypes.get(pool) ?? own;
}
