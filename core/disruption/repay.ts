import type { Blocked } from "./blocked.ts";
import type { Candidate } from "./candidate.ts";
import type { DisruptionSettings } from "./settings.ts";

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

/** Set when the saving does not repay the move within the horizon. */
export function notRepaid(settings: DisruptionSettings, candidates: readonly Candidate[], savesPerHour: number): Blocked | undefined {
  const { horizonMs } = settings;
  if (horizonMs === undefined || netSavings(settings, candidates, savesPerHour) >= 0) return undefined;
  return { reason: "NotRepaid", savesPerHour, hours: horizonMs / HOUR_MS, moveCost: moveCost(settings, candidates) };
}
