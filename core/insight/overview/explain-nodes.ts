import { viewCluster } from "../../disruption/cluster/view.ts";
import type { Tried } from "../../disruption/consolidation/decision.ts";
import type { DisruptionPlan } from "../../disruption/plan.ts";
import { nodePrice } from "../../disruption/prices/price.ts";
import { remedyOf } from "../../disruption/reports/stays.ts";
import { describeBlocked } from "../../disruption/reports/wording.ts";
import { CAPACITY_TYPE, INSTANCE_TYPE } from "../../model/labels.ts";
import { podRequests } from "../../model/pod-requests.ts";
import { addResources } from "../../model/quantity.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { isReschedulable } from "../../pods/predicates.ts";
import { nodeViews } from "../../scheduling/problem/node-view.ts";
import { carryOut } from "../what-if/carry-out.ts";
import { consolidates, type HeldBack, heldBack } from "./held-back.ts";
import { type ResourceUse, sharesOf } from "./shares.ts";

/** A set of nodes that was tried, as one of its nodes sees it. */
export interface NodeSetAttempt {
  /** The other nodes of the set. */
  readonly with: readonly string[];
  /** USD per hour; 0 where no plan was found. */
  readonly savesPerHour: number;
  readonly podsMoved: number;
  /** The cheapest type of each replacement. */
  readonly replacements: readonly string[];
  readonly chosen: boolean;
  /** Why the set was not chosen; absent where it was chosen, or where another set saves more. */
  readonly why?: string;
}

/** A node with whether it stays, and why. */
export interface ExplainedNode {
  /** The name of the NodeClaim while there is no node. */
  readonly name: string;
  readonly instanceType: string;
  readonly capacityType: string;
  readonly pricePerHour: number;
  /** Which part of its room pods ask for, the tightest resource first; empty where there is no node. */
  readonly use: readonly ResourceUse[];
  /** How many pods would have to move. */
  readonly pods: number;
  /** "goes": in this pass. "next": in a later pass. "unseen": no pass has reached it, and nothing blocks it. */
  readonly verdict: "goes" | "next" | "stays" | "unseen";
  /** The method that removes it, or why it stays. */
  readonly reason: string;
  /** What a user may do so that a node that stays can go, as a phrase. */
  readonly remedy?: string;
  /** How many sets of this node and others were tried. */
  readonly sets: number;
  /** The trial of this node alone, if there was one. */
  readonly alone?: NodeSetAttempt;
  /** The best set with others: the chosen one, or the one that saves most. */
  readonly best?: NodeSetAttempt;
  /** The saving with this node that budgets hold back; only for a node that no pass removes. */
  readonly heldBack?: HeldBack;
}

/** How many passes are planned one after another; no benchmark has tuned it. */
const MAX_PASSES = 20;

/**
 * Every NodeClaim with whether its node stays, and why. A pass ends with the first method that finds a command, so
 * empty and drifted nodes hide what consolidation would do with the others: such commands are carried out on a copy of
 * the snapshot until a pass reaches consolidation.
 */
export function explainNodes(
  snapshot: Snapshot,
  first: DisruptionPlan,
  decide: (snapshot: Snapshot) => DisruptionPlan,
): readonly ExplainedNode[] {
  const plans = [first];
  let current = snapshot;
  for (let last = first; last.command && !isConsolidation(last) && plans.length < MAX_PASSES; ) {
    current = carryOut(current, last.command);
    last = decide(current);
    plans.push(last);
  }
  const last = plans.at(-1) ?? first;
  const held = heldBack(current, last, decide);
  const view = viewCluster({ snapshot, records: [], commands: [], now: snapshot.now });
  const views = new Map(nodeViews(snapshot).map((one) => [one.name, one]));
  return [...view.machines.values()].map(({ claim, name, node, labels, nodePool, pods }) => {
    const nodeClaim = claim.metadata.name;
    const instanceType = labels[INSTANCE_TYPE] ?? "";
    const verdict = verdictOf(nodeClaim, plans);
    const isLeft = verdict.verdict === "stays" || verdict.verdict === "unseen";
    const heldHere = isLeft ? heldBy(nodeClaim, nodePool, held, last) : undefined;
    return {
      name: node ? name : nodeClaim,
      instanceType,
      capacityType: labels[CAPACITY_TYPE] ?? "",
      pricePerHour: nodePrice(labels, snapshot.instanceTypes.get(nodePool ?? "") ?? []),
      use: node ? sharesOf(addResources(...pods.map(podRequests)), views.get(name)?.allocatable ?? {}) : [],
      pods: pods.filter(isReschedulable).length,
      ...verdict,
      ...attemptsOf(name, plans),
      ...(heldHere && { heldBack: heldHere }),
    };
  });
}

/**
 * The saving that budgets hold back; none where the budget of the node's own NodePool is spent and would let the set
 * be disrupted otherwise.
 */
function heldBy(
  nodeClaim: string,
  nodePool: string | undefined,
  held: ReadonlyMap<string, HeldBack>,
  { blocked }: DisruptionPlan,
): HeldBack | undefined {
  const found = held.get(nodeClaim);
  const isSpent = blocked.some((one) => one.nodeClaim === nodeClaim && one.blocked.reason === "BudgetSpent");
  return isSpent && !found?.budgets.some((budget) => budget.nodePool === nodePool) ? undefined : found;
}

const isConsolidation = ({ command }: DisruptionPlan): boolean => command !== undefined && consolidates(command);

function verdictOf(nodeClaim: string, plans: readonly DisruptionPlan[]): Pick<ExplainedNode, "verdict" | "reason" | "remedy"> {
  const pass = plans.findIndex(({ command }) => command?.candidates.some((candidate) => candidate.nodeClaim === nodeClaim));
  const method = plans[pass]?.command?.method;
  if (method !== undefined) return { verdict: pass === 0 ? "goes" : "next", reason: method };
  const blocked = plans.at(-1)?.blocked.find((one) => one.nodeClaim === nodeClaim);
  return blocked ? { verdict: "stays", reason: blocked.message, remedy: remedyOf(blocked.blocked) } : { verdict: "unseen", reason: "" };
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

function attemptOf(node: string, { nodes, savesPerHour, podsMoved, replacements, verdict, why }: Tried): NodeSetAttempt {
  return {
    with: nodes.filter((name) => name !== node),
    ...{ savesPerHour, podsMoved, replacements },
    chosen: verdict === "chosen",
    ...(why && { why: describeBlocked(why) }),
  };
}
