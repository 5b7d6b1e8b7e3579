import { bounded } from "../../history/claim-entries.ts";
import type { Stay } from "../../history/stays.ts";
import { rfc3339 } from "../../model/conditions.ts";
import { CIRCUIT_RESET } from "../../model/labels.ts";
import type { Blocked, BlockedNode } from "../cluster/blocked.ts";
import { describeBlocked } from "./wording.ts";

/** Nodes that are reported: a document of the table is written in one call. */
const MAX_NODES = 3_000;
const MAX_WHY = 400;

/** Why each node stays, and what would free it; in the order of their names. */
export function staysOf(blocked: readonly BlockedNode[]): readonly Stay[] {
  return blocked
    .slice(0, MAX_NODES)
    .map(({ node, nodeClaim, blocked: why }) => ({ node, nodeClaim, why: bounded(describeBlocked(why), MAX_WHY), remedy: remedyOf(why) }));
}

const until = (at: number): string =>
  Number.isFinite(at) ? `it may go from ${rfc3339(at)} on` : "nothing but time or a change of its pods";

/** What a user may do so that the node can go, as a phrase. */
export function remedyOf(blocked: Blocked): string {
  switch (blocked.reason) {
    case "InCommand":
      return "nothing to do: a disruption command is about it already";
    case "Destination":
      return "the end of the disruption command that moves pods here";
    case "NoNode":
      return "a machine that joins the cluster";
    case "NotInitialized":
      return "a node that becomes Ready, with its resources and without its startup taints";
    case "Deleting":
      return "nothing to do: it is going already";
    case "Nominated":
      return until(blocked.until);
    case "NodeDoNotDisrupt":
      return "the annotation karpenter.sh/do-not-disrupt taken off the node";
    case "Rebooting":
      return "nothing to do: it is back, or replaced, within 30 minutes";
    case "DoNotRepair":
      return "the annotation karpenter.sh/do-not-repair taken off the node and its NodeClaim";
    case "TooManyUnhealthy":
      return `a fix of what makes many nodes of NodePool ${blocked.nodePool} unhealthy, or the end of the nodes by hand`;
    case "CommonFault":
      return `a fix of what made ${blocked.condition} ${blocked.status} on many nodes at once, or time: ${until(blocked.until)}`;
    case "StaticAtLimit":
      return `a higher limits.nodes of NodePool ${blocked.nodePool}`;
    case "Unreadable":
      return "a fix of the object that cannot be read";
    case "NodeClaimRefused":
      return "a fix of what the API server refuses, so that the pod can get another node";
    case "NodeLabelMissing":
    case "LabelMissing":
      return `the label ${blocked.label} back on the node`;
    case "NodePoolNotFound":
      return `NodePool ${blocked.nodePool} applied again, or the node deleted`;
    case "PodDoNotDisrupt":
      return `the annotation karpenter.sh/do-not-disrupt taken off pod ${blocked.pod}, or the end of that pod${Number.isFinite(blocked.until) ? `, or time: ${until(blocked.until)}` : ""}`;
    case "Pdb":
      return `PodDisruptionBudget ${blocked.budgets.join(", ")} allowing a disruption: more ready replicas, or a smaller minAvailable`;
    case "SeveralPdbs":
      return `one PodDisruptionBudget for pod ${blocked.pod} in place of ${blocked.budgets.join(", ")}`;
    case "StaticNodePool":
      return `fewer replicas of NodePool ${blocked.nodePool}`;
    case "InstanceTypeUnknown":
      return `an instance type that the region has in place of ${blocked.instanceType}: delete the node`;
    case "ConsolidationDisabled":
      return `consolidateAfter of NodePool ${blocked.nodePool} set to a time`;
    case "WhenEmptyOnly":
      return `consolidationPolicy WhenEmptyOrUnderutilized of NodePool ${blocked.nodePool}, or the end of its pods`;
    case "BufferPods":
      return "a smaller CapacityBuffer, or room for it on other nodes";
    case "NotConsolidatable":
      return until(blocked.until);
    case "BudgetSpent":
      return `a budget of NodePool ${blocked.nodePool} that allows more nodes for reason ${blocked.disruption}, or the end of disruptions under way`;
    case "CircuitOpen":
      return `well pods, a change of NodePool ${blocked.nodePool} or its EC2NodeClass, or another value of its annotation ${CIRCUIT_RESET}`;
    case "PodsUnplaced":
      return "room elsewhere for the pods that are named: limits, requirements or spreads that allow another node";
    case "SeveralReplacements":
      return "fewer or smaller pods on it, so that one new node takes them";
    case "NotCheaper":
      if (blocked.isPaidFor) return "room on other nodes, or the end of what SAVINGS_PLANS and RESERVED_INSTANCES count";
      return "smaller requests of its pods, room on other nodes, or NodePools that allow cheaper instance types";
    case "SurplusCredits":
      return "smaller cpu requests of its pods, or BURSTABLE_PRICE=list";
    case "NotRepaid":
      return "a longer CONSOLIDATION_HORIZON, or fewer pods to move";
    case "SavingsMissed":
    case "RateReached":
      return until(blocked.until);
    case "MinValues":
      return `a smaller minValues of ${blocked.key}`;
    case "SpotToSpotDisabled":
      return "the feature gate SpotToSpotConsolidation";
    case "SpotToSpotTooFew":
      return "a NodePool that allows 15 cheaper instance types";
    case "NotWorthIt":
      return `consolidationPolicy WhenEmptyOrUnderutilized of NodePool ${blocked.nodePool}, or a larger saving`;
  }
}
