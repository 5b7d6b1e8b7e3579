import { WELL_KNOWN_LABELS } from "../../model/labels.ts";
import { isOthersNode } from "../../model/managed.ts";
import type { Node } from "../../model/node.ts";
import type { NodeClaim } from "../../model/node-claim.ts";

/** Label of Kubernetes to label of a metric: "karpenter.sh/capacity-type" is "capacity_type". */
const METRIC_LABELS: ReadonlyMap<string, string> = new Map(
  [...WELL_KNOWN_LABELS].map((label) => [label, label.slice(label.indexOf("/") + 1).replaceAll("-", "_")]),
);

/** Provider ids of the NodeClaims that are served here. */
export function managedProviderIds(nodeClaims: readonly NodeClaim[]): ReadonlySet<string> {
  return new Set(nodeClaims.flatMap(({ status }) => status?.providerID ?? []));
}

/** Whether a NodeClaim that is served here has the node. */
export function isManagedNode(node: Node, providerIds: ReadonlySet<string>): boolean {
  return !isOthersNode(node) && node.spec.providerID !== undefined && providerIds.has(node.spec.providerID);
}

/**
 * The labels of a node's metrics: each well-known label that the node has, in snake case and without its domain, its
 * name, and whether it is managed (karpenter: pkg/controllers/metrics/node/controller.go, getNodeLabels).
 */
export function nodeLabels(node: Node, providerIds: ReadonlySet<string>): Readonly<Record<string, string>> {
  const own = Object.entries(node.metadata.labels ?? {}).flatMap(([label, value]) => {
    const name = METRIC_LABELS.get(label);
    return name === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(own), node_name: node.metadata.name, managed: String(isManagedNode(node, providerIds)) };
}
