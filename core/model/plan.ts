import type { ResourceList } from "./kubernetes.ts";
import type { NodeSelectorRequirementWithMinValues } from "./node-pool.ts";
import type { PaidKind } from "./paid-capacity.ts";
import type { Taint } from "./taint.ts";

/** One new NodeClaim of a plan: an instance to launch. It is not written yet. */
export interface PlannedNodeClaim {
  readonly nodePool: string;
  readonly requirements: readonly NodeSelectorRequirementWithMinValues[];
  readonly taints: readonly Taint[];
  /** Labels that pods require and that no instance type decides. */
  readonly labels: Readonly<Record<string, string>>;
  /** All instance types that may be launched, cheapest first, at most 600. */
  readonly instanceTypes: readonly string[];
  /**
   * Set for NodeClaims that do not list their instance types (static NodePools): the cheapest type at launch time is
   * taken.
   */
  readonly typesAtLaunch?: true;
  /** Sum of the pods' requests and the smallest DaemonSet overhead. */
  readonly requests: ResourceList;
  /** "namespace/name". */
  readonly pods: readonly string[];
  /** Price of the cheapest available offering that the requirements admit, USD per hour. */
  readonly pricePerHour: number;
  /**
   * USD per hour of the surplus credits that its planned requests would cost beside that price, if its cheapest type is
   * burstable and they exceed the baseline; absent for 0.
   */
  readonly surplusPerHour?: number;
  readonly minValuesRelaxed?: boolean;
  /**
   * Set when a commitment of this kind pays for its machine (paid-capacity.ts): it is launched on demand, as one of the
   * types that the commitment pays for, and `pricePerHour` is a share of their on-demand price.
   */
  readonly paidFor?: PaidKind;
}

/** The decision of a scheduling run. Its JSON is the plan of `docs/scenario-format.md`. */
export interface Plan {
  readonly newNodeClaims: readonly PlannedNodeClaim[];
  readonly existingNodes: readonly { readonly name: string; readonly pods: readonly string[] }[];
  /** "namespace/name" of a pod to why no node can take it, in words that say what to change. */
  readonly podErrors: Readonly<Record<string, string>>;
  /**
   * When the first offering is available again that a pod of `podErrors` waits for, ms since the epoch; absent without
   * one.
   */
  readonly retriedAt?: number;
}
