import type { ResourceList } from "./kubernetes.ts";
import type { NodeSelectorRequirementWithMinValues } from "./node-pool.ts";
import type { Taint } from "./taint.ts";

/** A machine to buy: one NodeClaim that is not written yet. */
export interface PlannedNodeClaim {
  readonly nodePool: string;
  readonly requirements: readonly NodeSelectorRequirementWithMinValues[];
  readonly taints: readonly Taint[];
  /** Labels that pods pin and no instance type decides (nodeclaim-lifecycle.md §1). */
  readonly labels: Readonly<Record<string, string>>;
  /** All types it may be launched as, cheapest first, at most 600. */
  readonly instanceTypes: readonly string[];
  /** The claim does not name them, as nodes of static pools do not: what is cheapest when it is launched is taken. */
  readonly typesAtLaunch?: true;
  /** Sum of the pods' requests and the least daemonset overhead. */
  readonly requests: ResourceList;
  /** "namespace/name". */
  readonly pods: readonly string[];
  /** Cheapest available offering that the requirements admit, USD per hour. */
  readonly pricePerHour: number;
  readonly minValuesRelaxed?: boolean;
}

/** What a scheduling run decided (the JSON of it is FORMAT.md's plan). */
export interface Plan {
  readonly newNodeClaims: readonly PlannedNodeClaim[];
  readonly existingNodes: readonly { readonly name: string; readonly pods: readonly string[] }[];
  /** "namespace/name" to why it fits nowhere, in words that lead to the mend. */
  readonly podErrors: Readonly<Record<string, string>>;
}
