import type { Blocked } from "../blocked.ts";
import type { ClusterView, Machine } from "../view.ts";

/** One reason for which a node may not be disrupted; undefined when it does not hold. */
export type Rule = (machine: Machine, view: ClusterView) => Blocked | undefined;
