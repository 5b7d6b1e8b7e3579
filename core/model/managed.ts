import { NODE_CLASS, NODE_CLASS_GROUP } from "./labels.ts";
import type { Node } from "./node.ts";
import type { NodeClaim } from "./node-claim.ts";
import type { NodeClassReference, NodePool } from "./node-pool.ts";

/** The kind of NodeClass that nodes are launched from here. */
export const NODE_CLASS_KIND = "EC2NodeClass";

/**
 * Whether a NodeClass is served here. The CustomResourceDefinitions of NodePools and NodeClaims are shared by all
 * controllers of a cluster, such as EKS Auto Mode; the reference to the NodeClass says whose an object is. An object
 * without a reference belongs to no other controller.
 */
export function isServed(ref: NodeClassReference | undefined): boolean {
  return !ref || (ref.group === NODE_CLASS_GROUP && ref.kind === NODE_CLASS_KIND);
}

/** Whether a NodeClaim is served here (karpenter: pkg/utils/nodeclaim/nodeclaim.go, IsManaged). */
export const isManagedClaim = ({ spec }: Pick<NodeClaim, "spec">): boolean => isServed(spec?.nodeClassRef);

/** Whether a NodePool is served here (karpenter: pkg/utils/nodepool/nodepool.go, IsManaged). */
export const isManagedPool = ({ spec }: Pick<NodePool, "spec">): boolean => isServed(spec?.template?.spec?.nodeClassRef);

/**
 * Whether a node was launched from another controller's NodeClass. A controller labels its nodes with the NodeClass,
 * under the key GROUP/KIND in small letters (karpenter: pkg/apis/v1/labels.go, NodeClassLabelKey). A node without such
 * a label may belong to no controller, or may be ours and not registered yet.
 */
export function isOthersNode({ metadata }: Pick<Node, "metadata">): boolean {
  const labels = metadata.labels ?? {};
  return labels[NODE_CLASS] === undefined && Object.keys(labels).some((key) => /\/[a-z0-9]*nodeclass$/.test(key));
}

/** The part of a cluster's lists that is served here, and the NodePools that another controller serves. */
export function managedPart<T extends { readonly nodePools: readonly NodePool[]; readonly nodeClaims: readonly NodeClaim[] }>(
  lists: T,
): T & { readonly otherPools: readonly NodePool[] } {
  return {
    ...lists,
    nodePools: lists.nodePools.filter(isManagedPool),
    otherPools: lists.nodePools.filter((pool) => !isManagedPool(pool)),
    nodeClaims: lists.nodeClaims.filter(isManagedClaim),
  };
}
