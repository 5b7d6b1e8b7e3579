import { DISRUPTED_TAINT } from "../model/labels.ts";
import type { Node } from "../model/node.ts";
import { hasTaint } from "./registration.ts";

/**
 * The node with the disrupted taint, in place of a taint of the same key with another effect; undefined when it has the
 * taint already (karpenter: pkg/controllers/node/termination/terminator/terminator.go, Terminator.Taint).
 */
export function withDisruptedTaint(node: Node): Node | undefined {
  return hasTaint(node, DISRUPTED_TAINT) ? undefined : { ...node, spec: { ...node.spec, taints: [...others(node), DISRUPTED_TAINT] } };
}

/** The node without the disrupted taint; undefined when it has none. */
export function withoutDisruptedTaint(node: Node): Node | undefined {
  return hasTaint(node, DISRUPTED_TAINT) ? { ...node, spec: { ...node.spec, taints: others(node) } } : undefined;
}

function others({ spec }: Node) {
  return (spec.taints ?? []).filter(({ key }) => key !== DISRUPTED_TAINT.key);
}
