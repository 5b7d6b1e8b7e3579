import type { Blocked } from "../cluster/blocked.ts";
import type { Candidate } from "../cluster/candidate.ts";
import type { DisruptionSettings } from "../settings.ts";

const HOUR_MS = 3_600_000;
/** USD per unit of disruption cost: DisruptionSettings.podMoveCost unless set. No benchmark has tuned it. */
const POD_MOVE_COST = 0.001;

/**
 * A pod that started within the payback horizon counts as so many pods: it was moved then, or it is new, and each
 * horizon should move it once. `npm run -s bench -- consolidate` chose it.
 */
const RECENT_POD_FACTOR = 20;

/**
 * The disruption cost of the candidates in USD: podMoveCost for each node and for each pod of eviction cost 1, more for
 * pods that started within the horizon.
 */
export function disruptionCostUsd({ podMoveCost = POD_MOVE_COST }: DisruptionSettings, candidates: readonly Candidate[]): number {
  const recent = RECENT_POD_FACTOR - 1;
  return podMoveCost * candidates.reduce((sum, { disruptionCost, recentCost }) => sum + disruptionCost + recent * recentCost, 0);
}

/** The disruption cost spread over the payback horizon, USD per hour; 0 without a horizon, as in Karpenter. */
export function moveCostPerHour(settings: DisruptionSettings, candidates: readonly Candidate[]): number {
  const { horizonMs } = settings;
  return horizonMs === undefined ? 0 : (disruptionCostUsd(settings, candidates) * HOUR_MS) / horizonMs;
}

/**
 * Net savings of a removal, USD per hour: its savings less its disruption cost spread over the payback horizon. Without
 * a horizon disruption costs nothing, as in Karpenter.
 */
export function netSavings(settings: DisruptionSettings, candidates: readonly Candidate[], savesPerHour: number): number {
  return savesPerHour - moveCostPerHour(settings, candidates);
}

/**
 * Set when the savings do not pay back the disruption cost within the horizon. `savesPerHour` is of the owner's cost
 * (costSavedBy), as in the choice of a set.
 */
export function paybackTooLong(settings: DisruptionSettings, candidates: readonly Candidate[], savesPerHour: number): Blocked | undefined {
  const { horizonMs } = settings;
  if (horizonMs === undefined || netSavings(settings, candidates, savesPerHour) >= 0) return undefined;
  return { reason: "NotRepaid", savesPerHour, hours: horizonMs / HOUR_MS, moveCost: disruptionCostUsd(settings, candidates) };
}
