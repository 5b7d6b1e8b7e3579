import { viewCluster } from "../../core/disruption/cluster/view.ts";
import type { Tried } from "../../core/disruption/consolidation/decision.ts";
import type { DisruptionPlan } from "../../core/disruption/plan.ts";
import { nodePrice } from "../../core/disruption/prices/price.ts";
import { describeBlocked } from "../../core/disruption/reports/wording.ts";
import { CAPACITY_TYPE, INSTANCE_TYPE } from "../../core/model/labels.ts";
import type { Snapshot } from "../../core/model/snapshot.ts";
import { isReschedulable } from "../../core/pods/predicates.ts";
import { carryOut } from "../../core/what-if/carry-out.ts";

/** A set of nodes that was tried, told of one of them. */
export interface Attempt {
  /** Nodes that would have gone too. */
  readonly with: readonly string[];
  /** USD per hour; 0 where it came to nothing. */
  readonly savesPerHour: number;
  readonly podsMoved: number;
  /** Cheapest types of the nodes that would have come instead. */
  readonly replacements: readonly string[];
  readonly chosen: boolean;
  /** Why it was not to be; absent where it was, or where another set was worth more. */
  readonly why?: string;
}

/** A node, what becomes of it and why. */
export interface ExplainedNode {
  /** Of the NodeClaim while there is no node. */
  readonly name: string;
  readonly instanceType: string;
  readonly capacityType: string;
  readonly pricePerHour: number;
  /** How many pods would have to move. */
  readonly pods: number;
  /** "next": in a pass that follows this one. "unseen": no pass has come to it, and nothing speaks against it. */
  readonly verdict: "goes" | "next" | "stays" | "unseen";
  /** The method by which it goes, or why it stays. */
  readonly reason: string;
  /** How many sets of it and others were tried. */
  readonly sets: number;
  /** Of it alone, if that was tried. */
  readonly alone?: Attempt;
  /** The set with others that would have saved most. */
  readonly best?: Attempt;
}

/** Passes that are looked at, so that no node is left out because an earlier method had something to do. */
const MOST_PASSES = 20;

/**
 * Every NodeClaim with what becomes of it. A pass ends with the first method that finds something, so empty and drifted nodes hide what consolidation thinks of
 * the others: such passes are carried out in thought until one has come to consolidation.
 */
export function explainNodes(
  snapshot: Snapshot,
  first: DisruptionPlan,
  decide: (snapshot: Snapshot) => DisruptionPlan,
): readonly ExplainedNode[] {
  const plans = [first];
  let current = snapshot;
  for (let last = first; last.command && !isConsolidation(last) && plans.length < MOST_PASSES; ) {
    current = carryOut(current, last.command);
    last = decide(current);
    plans.push(last);
  }
  const view = viewCluster({ snapshot, records: [], commands: [], now: snapshot.now });
  return [...view.machines.values()].map(({ claim, name, node, labels, nodePool, pods }) => {
    const nodeClaim = claim.metadata.name;
    const instanceType = labels[INSTANCE_TYPE] ?? "";
    return {
      name: node ? name : nodeClaim,
      instanceType,
      capacityType: labels[CAPACITY_TYPE] ?? "",
      pricePerHour: nodePrice(labels, snapshot.instanceTypes.get(nodePool ?? "") ?? []),
      pods: pods.filter(isReschedulable).length,
      ...verdictOf(nodeClaim, plans),
      ...attemptsOf(name, plans),
    };
  });
}

const isConsolidation = ({ command }: DisruptionPlan): boolean => command?.method === "multi" || command?.method === "single";

function verdictOf(nodeClaim: string, plans: readonly DisruptionPlan[]): Pick<ExplainedNode, "verdict" | "reason"> {
  const pass = plans.findIndex(({ command }) => command?.candidates.some((candidate) => candidate.nodeClaim === nodeClaim));
  const method = plans[pass]?.command?.method;
  if (method !== undefined) return { verdict: pass === 0 ? "goes" : "next", reason: method };
  const blocked = plans.at(-1)?.blocked.find((one) => one.nodeClaim === nodeClaim);
  return blocked ? { verdict: "stays", reason: blocked.message } : { verdict: "unseen", reason: "" };
}

function attemptsOf(node: string, plans: readonly DisruptionPlan[]): Pick<ExplainedNode, "sets" | "alone" | "best"> {
  const mine = plans.flatMap(({ tried }) => tried).filter(({ nodes }) => nodes.includes(node));
  const alone = mine.findLast(({ nodes }) => nodes.length === 1);
  const sets = mine.filter(({ nodes }) => nodes.length > 1);
  const different = new Set(sets.map(({ nodes }) => [...nodes].sort().join()));
  const [best] = sets.sort(
    (a, b) =>
      Number(b.verdict === "chosen") - Number(a.verdict === "chosen") || b.savesPerHour - a.savesPerHour || a.nodes.length - b.nodes.length,
  );
  return { sets: different.size, ...(alone && { alone: attemptOf(node, alone) }), ...(best && { best: attemptOf(node, best) }) };
}

function attemptOf(node: string, { nodes, savesPerHour, podsMoved, replacements, verdict, why }: Tried): Attempt {
  return {
    with: nodes.filter((name) => name !== node),
    ...{ savesPerHour, podsMoved, replacements },
    chosen: verdict === "chosen",
    ...(why && { why: describeBlocked(why) }),
  };
}
