import { DISRUPTED_TAINT } from "../model/labels.ts";
import type { Node } from "../model/node.ts";
import { hasTaint } from "./registration.ts";

/** The node under the disrupted taint, in place of one with another effect (nodeclaim-lifecycle.md §11); undefined when it has it already. */
export function withDisruptedTaint(node: Node): Node | undefined {
  return hasTaint(node, DISRUPTED_TAINT) ? undefined : { ...node, spec: { ...node.spec, taints: [...others(node), DISRUPTED_TAINT] } };
}

/** The node without it; undefined when it has none. */
export function withoutDisruptedTaint(node: Node): Node | undefined {
  return hasTaint(node, DISRUPTED_TAINT) ? { ...node, spec: { ...node.spec, taints: others(node) } } : undefined;
}

function others({ spec }: Node) {
  return (spec.taints ?? []).filter(({ key }) => key !== DISRUPTED_TAINT.key);
}
