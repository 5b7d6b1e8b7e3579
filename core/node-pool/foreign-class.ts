import { NODE_CLASS_GROUP } from "../model/labels.ts";
import { isServed, NODE_CLASS_KIND } from "../model/managed.ts";
import type { NodePool } from "../model/node-pool.ts";

/** Groups of NodeClasses that other controllers serve, and the names of the controllers. */
const OWNERS: Readonly<Record<string, string>> = { "eks.amazonaws.com": "EKS Auto Mode" };

/** The controller that serves a group of NodeClasses; undefined for a group that is not known. */
export const ownerOfGroup = (group: string): string | undefined => (Object.hasOwn(OWNERS, group) ? OWNERS[group] : undefined);

/**
 * Why no nodes are launched from the class that a NodePool references, and how to fix it; undefined when the reference
 * names an EC2NodeClass. Such NodePools get no status here, because another controller may own them.
 */
export function foreignNodeClass({ spec }: Pick<NodePool, "spec">): string | undefined {
  const { nodeClassRef } = spec.template.spec;
  if (isServed(nodeClassRef)) return undefined;
  const { group, kind } = nodeClassRef;
  const owner = ownerOfGroup(group);
  const belongs = owner === undefined ? "which is" : `which belongs to ${owner} and is`;
  return `its nodeClassRef names a ${kind} of group ${group}, ${belongs} not served here; use an ${NODE_CLASS_KIND} of group ${NODE_CLASS_GROUP}`;
}
