import type { Blocked } from "../blocked.ts";
import type { ClusterView, Machine } from "../view.ts";

/**
 * A rule of voluntary disruption: why the machine may not be disrupted, or undefined when the rule does not block it.
 */
export type Rule = (machine: Machine, view: ClusterView) => Blocked | undefined;
