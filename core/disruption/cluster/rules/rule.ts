import type { Blocked } from "../blocked.ts";
import type { ClusterView, StateNode } from "../view.ts";

/**
 * A rule of voluntary disruption: why the machine may not be disrupted, or undefined when the rule does not block it.
 */
export type Rule = (machine: StateNode, view: ClusterView) => Blocked | undefined;
