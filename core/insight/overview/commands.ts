import { capacityTypeOfPlanned } from "../../disruption/consolidation/replacement.ts";
import { perHour } from "../../disruption/prices/money.ts";
import { plannedPriceText } from "../../disruption/prices/price.ts";
import { podCount } from "../../disruption/reports/wording.ts";
import type { CommandRecord } from "../../model/command-record.ts";
import type { PlannedNodeClaim } from "../../model/plan.ts";
import { counted, listed } from "../../scheduling/reasons/words.ts";
import type { CommandOverview } from "./types.ts";

/** Nodes and types that a sentence names. */
const MAX_NAMED = 3;

/** A command as a list shows it; `phase` is "planned" for what only the next pass would decide. */
export function commandOverview(command: CommandRecord, phase: string = command.phase): CommandOverview {
  const { method, reason, decision, since, savingsPerHour, candidates, replacements } = command;
  return {
    ...{ phase, method, reason, decision, since, savingsPerHour },
    pods: podCount(command),
    nodes: candidates.map(({ node }) => node),
    replacements: replacements.map(replacementText),
    text: command.problem ?? commandSentence(command),
  };
}

const replacementText = (planned: PlannedNodeClaim): string =>
  `${capacityTypeOfPlanned(planned)} ${listed(planned.instanceTypes, MAX_NAMED)} (NodePool ${planned.nodePool}, from ${plannedPriceText(planned)})`;

const WHY: Readonly<Record<CommandRecord["method"], string>> = {
  emptiness: "no pod needs the node",
  drift: "the node differs from what its NodePool or EC2NodeClass now asks for",
  multi: "fewer or cheaper nodes hold the same pods",
  single: "a cheaper node, or none, holds the same pods",
  sleep: "its NodePool sleeps",
  repair: "the node stays unhealthy",
  expiration: "the node is older than expireAfter",
};

/** "removes n1 and n2 (m5.large, m5.large) for 1 × spot m7g.large; moves 3 pods, saves $0.0960/h: fewer or …". */
export function commandSentence(command: CommandRecord): string {
  const { candidates, replacements, savingsPerHour, method } = command;
  const nodes = listed(
    candidates.map(({ node, nodeClaim, instanceType }) => `${node || nodeClaim} (${instanceType})`),
    MAX_NAMED,
  );
  const types = Map.groupBy(replacements, (planned) => `${capacityTypeOfPlanned(planned)} ${planned.instanceTypes[0] ?? ""}`);
  const instead = [...types].map(([type, list]) => (list.length === 1 ? type : `${list.length} × ${type}`));
  const money = savingsPerHour === 0 ? "" : `, ${savingsPerHour > 0 ? "saves" : "costs"} ${perHour(Math.abs(savingsPerHour))}`;
  const what = `${instead.length === 0 ? "removes" : "replaces"} ${nodes}${instead.length === 0 ? "" : ` by ${listed(instead, MAX_NAMED)}`}`;
  return `${what}; moves ${counted(podCount(command), "pod")}${money}: ${WHY[method]}`;
}
