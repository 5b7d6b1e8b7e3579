import type { CommandFields } from "../../announcements/log-events.ts";
import { span } from "../../lib/duration.ts";
import type { CommandRecord } from "../../model/command-record.ts";
import { rfc3339 } from "../../model/conditions.ts";
import type { PlannedNodeClaim } from "../../model/plan.ts";
import { perHour } from "../../model/prices.ts";
import type { Blocked } from "../cluster/blocked.ts";
import { capacityTypeOfPlanned } from "../consolidation/replacement.ts";
import { formatDollars } from "../prices/money.ts";

/** Names listed in one message; further names are counted. Karpenter lists five, too. */
const MAX_LISTED = 5;
/** Instance types listed for each of several replacements, so that the line stays short. */
const MAX_LISTED_OF_SEVERAL = 3;

function listed(names: readonly string[], max = MAX_LISTED): string {
  const others = names.length - max;
  return others > 0 ? `${names.slice(0, max).join(", ")} and ${others} other(s)` : names.join(", ");
}

/** The reason as a message, in the words of Karpenter's events, with the objects concerned in brackets. */
export function describeBlocked(blocked: Blocked): string {
  switch (blocked.reason) {
    case "InCommand":
      return "Node is part of a disruption command already";
    case "Destination":
      return "Node is kept for pods that another disruption command moves to it";
    case "NoNode":
      return "Nodeclaim does not have an associated node";
    case "NotInitialized":
      return "Node isn't initialized";
    case "Deleting":
      return "Node is deleting or marked for deletion";
    case "Nominated":
      return "Node is nominated for a pending pod";
    case "NodeDoNotDisrupt":
      return 'Disruption is blocked through the "karpenter.sh/do-not-disrupt" annotation';
    case "Rebooting":
      return "Node is rebooting";
    case "DoNotRepair":
      return 'repair is blocked through the "karpenter.sh/do-not-repair" annotation';
    case "TooManyUnhealthy":
      return `more than 20% of nodes in nodepool "${blocked.nodePool}" are unhealthy`;
    case "CommonFault":
      return `${blocked.condition} became ${blocked.status} on ${blocked.count} of ${blocked.total} nodes within an hour, so the nodes are not the cause; they are repaired from ${rfc3339(blocked.until)} on`;
    case "StaticAtLimit":
      return `static NodePool is at its node limit and cannot stage a replacement (NodePool=${blocked.nodePool})`;
    case "Unreadable":
      return blocked.problem;
    case "NodeClaimRefused":
      return `Pod cannot move (Pod=${blocked.pod}): ${blocked.problem}`;
    case "NodeLabelMissing":
      return `Node doesn't have required label (Label=${blocked.label})`;
    case "NodePoolNotFound":
      return `NodePool not found (NodePool=${blocked.nodePool})`;
    case "PodDoNotDisrupt":
      return `Pod has "karpenter.sh/do-not-disrupt" annotation (Pod=${blocked.pod})`;
    case "Pdb":
      return `Pdb prevents pod evictions (PodDisruptionBudget=[${blocked.budgets.join(" ")}])`;
    case "SeveralPdbs":
      return `Eviction does not support multiple PDBs (Pod=${blocked.pod}, PodDisruptionBudget=[${blocked.budgets.join(" ")}])`;
    case "StaticNodePool":
      return `NodePool "${blocked.nodePool}" has a fixed number of replicas`;
    case "InstanceTypeUnknown":
      return `Instance Type "${blocked.instanceType}" not found`;
    case "LabelMissing":
      return `Node does not have label "${blocked.label}"`;
    case "ConsolidationDisabled":
      return `NodePool "${blocked.nodePool}" has consolidation disabled`;
    case "WhenEmptyOnly":
      return `NodePool "${blocked.nodePool}" has consolidation policy WhenEmpty, but node is not empty`;
    case "BufferPods":
      return `Node "${blocked.node}" has buffer pods`;
    case "NotConsolidatable":
      return "Node is inside its consolidateAfter window";
    case "BudgetSpent":
      return `No allowed disruptions for disruption reason ${blocked.disruption} due to blocking budget (NodePool=${blocked.nodePool})`;
    case "RateReached":
      return `The cluster's disruption rate (DISRUPTION_RATE) is used up: ${blocked.limit} nodes in ${span(blocked.windowMs)}; the next one goes at ${rfc3339(blocked.until)}, or as soon as the pods that moved are well`;
    case "CircuitOpen":
      return `Disruption reason ${blocked.disruption} is held for NodePool ${blocked.nodePool}${Number.isFinite(blocked.until) ? ` until ${rfc3339(blocked.until)}` : ""}: ${blocked.why}`;
    case "PodsUnplaced":
      return `not all pods would schedule, ${blocked.errors
        .slice(0, MAX_LISTED)
        .map(([pod, error]) => `${pod} => ${error}`)
        .join(" ")}`;
    case "SeveralReplacements":
      return `Can't remove without creating ${blocked.count} candidates`;
    case "NotCheaper":
      if (blocked.isPaidFor) return "Can't replace with a cheaper node: a Savings Plan or reserved instance pays for its machine";
      return blocked.needs === undefined || blocked.costs === undefined
        ? "Can't replace with a cheaper node"
        : `Can't replace with a cheaper node: its pods would need new nodes for ${perHour(blocked.needs)}, it costs ${perHour(blocked.costs)}`;
    case "SurplusCredits":
      return `Can't move its pods for less: elsewhere they would cost ${perHour(blocked.needs)} with surplus credits of burstable types (BURSTABLE_PRICE) and NODE_OVERHEAD_PRICE, here ${perHour(blocked.costs)}`;
    case "NotRepaid":
      return `Saving ${perHour(blocked.savesPerHour)} does not repay moving its pods within ${Number(blocked.hours.toFixed(2))} h (CONSOLIDATION_HORIZON): that counts as $${blocked.moveCost.toFixed(4)}`;
    case "SavingsMissed":
      return `The last consolidation was to save ${perHour(blocked.savesPerHour)}, but the nodes cost more than that now, because pods went elsewhere than planned; the next one is not before ${rfc3339(blocked.until)}`;
    case "MinValues":
      return `Filtering by price: minValues of ${blocked.wanted} for ${blocked.key} is not met by the cheaper instance types, which have ${blocked.left}`;
    case "SpotToSpotDisabled":
      return "SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node";
    case "SpotToSpotTooFew":
      return `SpotToSpotConsolidation requires 15 cheaper instance type options than the current candidate to consolidate, got ${blocked.count}`;
    case "NotWorthIt":
      return `Balanced policy of NodePool "${blocked.nodePool}" finds too little saved for what is disrupted (score ${blocked.score.toFixed(2)} < threshold 0.50)`;
  }
}

/** The reason of the event for a blocked node; undefined for temporary states, which have no event. */
export function eventReasonOf({ reason }: Blocked): "DisruptionBlocked" | "NodeRepairBlocked" | "Unconsolidatable" | undefined {
  switch (reason) {
    case "InCommand":
    case "Destination":
    case "Rebooting":
    case "NotConsolidatable":
    case "BudgetSpent":
    case "StaticNodePool":
    // For the seconds in which a node starts: the NodeClaim's conditions say how far it is.
    case "NoNode":
    case "Nominated":
      return undefined;
    case "NotInitialized":
    case "Deleting":
    case "NodeDoNotDisrupt":
    case "DoNotRepair":
    case "StaticAtLimit":
    case "Unreadable":
    case "NodeClaimRefused":
    case "NodeLabelMissing":
    case "NodePoolNotFound":
    case "PodDoNotDisrupt":
    case "Pdb":
    case "SeveralPdbs":
      return "DisruptionBlocked";
    case "TooManyUnhealthy":
    case "CommonFault":
      return "NodeRepairBlocked";
    case "InstanceTypeUnknown":
    case "LabelMissing":
    case "ConsolidationDisabled":
    case "WhenEmptyOnly":
    case "BufferPods":
    case "PodsUnplaced":
    case "SeveralReplacements":
    case "NotCheaper":
    case "SurplusCredits":
    case "NotRepaid":
    case "SavingsMissed":
    case "RateReached":
    case "CircuitOpen":
    case "MinValues":
    case "SpotToSpotDisabled":
    case "SpotToSpotTooFew":
    case "NotWorthIt":
      return "Unconsolidatable";
  }
}

function typesOf({ instanceTypes }: PlannedNodeClaim, { length }: readonly PlannedNodeClaim[]): string {
  return listed(instanceTypes, length === 1 ? MAX_LISTED : MAX_LISTED_OF_SEVERAL);
}

/** The capacity type of a replacement, and whether a commitment pays for it. */
function capacityText(planned: PlannedNodeClaim): string {
  return `${capacityTypeOfPlanned(planned)}${planned.paidFor === undefined ? "" : " (paid for)"}`;
}

/** Replacements that `textOf` names alike, counted, in the order of the plan. */
function groupsOf(replacements: readonly PlannedNodeClaim[], textOf: (planned: PlannedNodeClaim, count: number) => string): string[] {
  const groups = [...Map.groupBy(replacements, (planned) => textOf(planned, 1)).values()];
  const shown = groups.slice(0, MAX_LISTED);
  const others = groups.slice(MAX_LISTED).flat().length;
  const texts = shown.flatMap((group) => (group[0] ? [`${group.length} ${textOf(group[0], group.length)}`] : []));
  return others > 0 ? [...texts, `${others} other(s)`] : texts;
}

/** Karpenter's words for one replacement; of several, each with its capacity type and its types. */
function replacementText(replacements: readonly PlannedNodeClaim[]): string {
  const [first] = replacements;
  if (!first) return "";
  if (replacements.length === 1) return ` and replacing with ${capacityText(first)} node from types ${typesOf(first, replacements)}`;
  const groups = groupsOf(
    replacements,
    (planned, count) => `${capacityText(planned)} node${count === 1 ? "" : "s"} from types ${typesOf(planned, replacements)}`,
  );
  return ` and replacing with ${groups.join("; ")}`;
}

/** The pods that a command moves to other nodes. */
export function podCount({ candidates }: Pick<CommandRecord, "candidates">): number {
  return candidates.reduce((sum, { pods }) => sum + pods.length, 0);
}

/** How a command disrupts: "replace, terminating 1 nodes (1 pods) NODE/TYPE/CAPACITY and replacing with …". */
export function disruptingVia(command: CommandRecord): string {
  const nodes = command.candidates.map(({ node, instanceType, capacityType }) => `${node}/${instanceType}/${capacityType}`);
  if (command.repair?.reboots) return `reboot, rebooting ${nodes.length} nodes (${podCount(command)} pods) ${nodes.join(", ")}`;
  const terminating = `terminating ${nodes.length} nodes (${podCount(command)} pods) ${nodes.join(", ")}`;
  return `${command.decision}, ${terminating}${replacementText(command.replacements)}`;
}

/** Karpenter's words; of several replacements also the capacity type and cheapest type of each. */
function commandBody({ decision, candidates, replacements }: CommandRecord): string {
  const pools = [...new Set(candidates.map(({ nodePool }) => nodePool))].sort();
  const nodes = candidates.map(({ node }) => node);
  const kinds = groupsOf(replacements, (planned) => `${capacityText(planned)} ${planned.instanceTypes[0] ?? ""}`);
  const count = replacements.length === 1 ? "1 replacement" : `${replacements.length} replacements`;
  return `${decision}: nodepools=[${pools.join(",")}]: [${nodes.join(", ")}] -> [${count}${replacements.length > 1 ? `: ${kinds.join(", ")}` : ""}]`;
}

/** The command in events, without its id, so that the same decision made again gives an equal event. */
export function commandText(command: CommandRecord): string {
  return `${command.reason}/${commandBody(command)}`;
}

/** The command in log lines (karpenter: pkg/controllers/disruption/types.go, Command.String). */
export function commandName(command: CommandRecord): string {
  return `${command.reason}/${command.id}: ${commandBody(command)} (savings: ${formatDollars(command.savingsPerHour)})`;
}

/** The log fields of a command (karpenter: pkg/controllers/disruption/types.go, Command.LogValues). */
export function commandFields(command: CommandRecord): CommandFields {
  const { candidates, replacements, decision, reason } = command;
  return {
    reason: reason.toLowerCase(),
    command: commandName(command),
    "command-id": command.id,
    decision,
    "disrupted-node-count": candidates.length,
    "replacement-node-count": replacements.length,
    "pod-count": podCount(command),
    "savings-per-hour": command.savingsPerHour,
    "disrupted-nodes": candidates.map(({ node, nodeClaim, nodePool, instanceType, capacityType, zone, pricePerHour }) => ({
      Node: { name: node },
      NodeClaim: { name: nodeClaim },
      NodePool: { name: nodePool },
      "instance-type": instanceType,
      "capacity-type": capacityType,
      zone,
      "price-per-hour": pricePerHour,
    })),
    "replacement-nodes": replacements.map((planned) => ({
      "capacity-type": capacityTypeOfPlanned(planned),
      "instance-types": typesOf(planned, replacements),
    })),
  };
}
