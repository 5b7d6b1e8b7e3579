import type { CommandRecord } from "../../model/command-record.ts";
import { INSTANCE_TYPE, NODE_POOL } from "../../model/labels.ts";
import { podRequests } from "../../model/pod-requests.ts";
import type { CostSettings } from "../../model/prices.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { nodeCost } from "../../offerings/node-cost.ts";
import { isActive, isDaemonSetPod } from "../../pods/predicates.ts";
import { paidNodes } from "../../scheduling/problem/paid-capacity.ts";
import type { Blocked } from "../cluster/blocked.ts";
import { costed, totalCost } from "../prices/cost.ts";
import { marginalPrice, nodePrice } from "../prices/price.ts";

/**
 * What the last consolidation was to save, kept to see whether it did. kube-scheduler may place the pods of the removed
 * nodes elsewhere than the simulation did, so that others need a new node; without this memory the same consolidation
 * would be decided again and again.
 */
export interface ExpectedSavings {
  /** Id of the command. */
  readonly command: string;
  /** When the command began to remove nodes, ms since the epoch. */
  readonly at: number;
  /** Of all nodes before, USD per hour: instances, volumes and overhead. */
  readonly costPerHour: number;
  /** USD per hour; 0 when the command was given up, because nothing is expected of it then. */
  readonly savesPerHour: number;
  /** What all pods but those of DaemonSets asked for, in milli-units (model/quantity.ts). */
  readonly cpu: number;
  readonly memory: number;
  /** How many expectations in a row were missed before this one. */
  readonly missed: number;
}

/** Consolidation waits so long after a first expectation that is missed, ms; twice as long after each further one. */
const FIRST_WAIT_MS = 5 * 60_000;
const MAX_WAIT_MS = 24 * 3_600_000;

/** An expectation is met when this part of the savings came true: an instance may cost more than was planned. */
const PART_MET = 0.5;

/** Costs before and after are compared when the cluster's pods ask for the same but for this part. */
const SAME_REQUESTS = 0.01;

/**
 * What a consolidation command that begins now is expected to save. `last` is the expectation before it; there is no
 * verdict on it while another command is being carried out. A repeated step keeps what its first try stored.
 */
export function expectedSavings(
  command: CommandRecord,
  snapshot: Snapshot,
  commands: readonly CommandRecord[],
  costs: CostSettings,
  last: ExpectedSavings | undefined,
): ExpectedSavings {
  if (last?.command === command.id) return last;
  const isAlone = !commands.some((other) => other.id !== command.id && isUnderWay(other));
  const verdict = last === undefined ? "met" : isAlone ? verdictOn(last, snapshot, costs) : "unknown";
  const before = last?.missed ?? 0;
  return {
    command: command.id,
    at: snapshot.now,
    costPerHour: costOf(snapshot, costs),
    savesPerHour: Math.max(0, savingsOf(command, snapshot, costs)),
    ...requestsOf(snapshot),
    missed: verdict === "met" ? 0 : verdict === "missed" ? before + 1 : before,
  };
}

/** Why no consolidation is decided: the last one did not save what it was to save. Undefined when it may be decided. */
export function savingsMissed(
  expected: ExpectedSavings | undefined,
  snapshot: Snapshot,
  commands: readonly CommandRecord[],
  costs: CostSettings,
): Extract<Blocked, { reason: "SavingsMissed" }> | undefined {
  if (expected === undefined || commands.some(isUnderWay)) return undefined;
  const until = expected.at + Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** expected.missed);
  if (snapshot.now >= until || verdictOn(expected, snapshot, costs) !== "missed") return undefined;
  return { reason: "SavingsMissed", savesPerHour: expected.savesPerHour, until };
}

/** "unknown" when pods ask for more or less than before, since the cost follows them, and when nothing is expected. */
function verdictOn(expected: ExpectedSavings, snapshot: Snapshot, costs: CostSettings): "met" | "missed" | "unknown" {
  const { costPerHour, savesPerHour, cpu, memory } = expected;
  const now = requestsOf(snapshot);
  const isSame = (before: number, after: number): boolean => Math.abs(after - before) <= SAME_REQUESTS * before;
  if (savesPerHour === 0 || !isSame(cpu, now.cpu) || !isSame(memory, now.memory)) return "unknown";
  return costOf(snapshot, costs) <= costPerHour - PART_MET * savesPerHour ? "met" : "missed";
}

const isUnderWay = ({ phase }: CommandRecord): boolean => phase === "Replacing" || phase === "Deleting" || phase === "RollingBack";

/** Surplus credits are left out, on both sides: they follow the pods and not the nodes. */
function savingsOf({ candidates, replacements }: CommandRecord, snapshot: Snapshot, costs: CostSettings): number {
  const before = candidates.reduce(
    (sum, { nodePool, instanceType, pricePerHour }) => sum + pricePerHour + ownCost(nodePool, instanceType, snapshot, costs),
    0,
  );
  return before - totalCost(costed(replacements, snapshot, costs).map((node) => ({ ...node, surplusPerHour: 0 })));
}

function costOf(snapshot: Snapshot, costs: CostSettings): number {
  const paid = paidNodes(snapshot);
  return snapshot.nodeClaims.reduce((sum, { metadata }) => {
    if (metadata.deletionTimestamp !== undefined) return sum;
    const { labels = {} } = metadata;
    const pool = labels[NODE_POOL] ?? "";
    const price = nodePrice(labels, snapshot.instanceTypes.get(pool) ?? []);
    return sum + marginalPrice(price, paid.has(metadata.name)) + ownCost(pool, labels[INSTANCE_TYPE], snapshot, costs);
  }, 0);
}

function ownCost(nodePool: string, instanceType: string | undefined, { instanceTypes }: Snapshot, costs: CostSettings): number {
  return nodeCost(
    instanceTypes.get(nodePool)?.find(({ name }) => name === instanceType),
    costs,
  );
}

function requestsOf({ pods }: Snapshot): Pick<ExpectedSavings, "cpu" | "memory"> {
  let [cpu, memory] = [0, 0];
  for (const pod of pods) {
    if (!isActive(pod) || isDaemonSetPod(pod)) continue;
    const requests = podRequests(pod);
    cpu += requests["cpu"] ?? 0;
    memory += requests["memory"] ?? 0;
  }
  return { cpu, memory };
}
