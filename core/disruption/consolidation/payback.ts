import { EXTRA_NODE_PRICE, NODE_VOLUME_PRICE } from "../../model/prices.ts";
import type { Blocked } from "../cluster/blocked.ts";
import type { Candidate } from "../cluster/candidate.ts";
import type { DisruptionSettings } from "../settings.ts";

const HOUR_MS = 3_600_000;
const POD_MOVE_COST = 0.001;

/** What ending some nodes and moving their pods counts as, USD: pods by their eviction costs, and 1 for each node (disruption.md §2). */
export function moveCost({ podMoveCost = POD_MOVE_COST }: DisruptionSettings, candidates: readonly Candidate[]): number {
  return podMoveCost * candidates.reduce((sum, { disruptionCost }) => sum + disruptionCost, 0);
}

/**
 * What a move is worth, USD per hour: what it saves, less what it counts as spread over the horizon. Without a horizon moving costs nothing.
 */
export function netSavings(settings: DisruptionSettings, candidates: readonly Candidate[], savesPerHour: number): number {
  const { horizonMs } = settings;
  return horizonMs === undefined ? savesPerHour : savesPerHour - (moveCost(settings, candidates) * HOUR_MS) / horizonMs;
}

/** What a set is worth that gives way to `newNodes`, USD per hour: volumes of nodes gained or lost count too, and each node more than before. */
export function netSavingsOfSet(
  settings: DisruptionSettings,
  candidates: readonly Candidate[],
  savesPerHour: number,
  newNodes: number,
): number {
  const volumes = NODE_VOLUME_PRICE * (candidates.length - newNodes);
  return netSavings(settings, candidates, savesPerHour + volumes) - costOfMoreNodes(candidates.length, newNodes);
}

/** What a move must save for the sake of its growing number of nodes, USD per hour. */
export function costOfMoreNodes(before: number, after: number): number {
  return EXTRA_NODE_PRICE * Math.max(0, after - before);
}

/** Set when the saving does not repay the move within the horizon. */
export function paybackTooLong(settings: DisruptionSettings, candidates: readonly Candidate[], savesPerHour: number): Blocked | undefined {
  const { horizonMs } = settings;
  if (horizonMs === undefined || netSavings(settings, candidates, savesPerHour) >= 0) return undefined;
  return { reason: "NotRepaid", savesPerHour, hours: horizonMs / HOUR_MS, moveCost: moveCost(settings, candidates) };
}
