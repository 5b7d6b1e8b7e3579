import type { Blocked } from "../cluster/blocked.ts";
import type { Candidate } from "../cluster/candidate.ts";
import type { DisruptionSettings } from "../settings.ts";

const HOUR_MS = 3_600_000;
/** USD per unit of disruption cost: DisruptionSettings.podMoveCost unless set. No benchmark has tuned it. */
const POD_MOVE_COST = 0.001;

/** The disruption cost of the candidates in USD: podMoveCost for each node and for each pod of eviction cost 1. */
export function disruptionCostUsd({ podMoveCost = POD_MOVE_COST }: DisruptionSettings, candidates: readonly Candidate[]): number {
  return podMoveCost * candidates.reduce((sum, { disruptionCost }) => sum + disruptionCost, 0);
}

/**
 * Net savings of a removal, USD per hour: its savings less its disruption cost spread over the payback horizon. Without
 * a horizon disruption costs nothing, as in Karpenter.
 */
export function netSavings(settings: DisruptionSettings, candidates: readonly Candidate[], savesPerHour: number): number {
  const { horizonMs } = settings;
  return horizonMs === undefined ? savesPerHour : savesPerHour - (disruptionCostUsd(settings, candidates) * HOUR_MS) / horizonMs;
}

/** Set when the savings do not pay back the disruption cost within the horizon. */
export function paybackTooLong(settings: DisruptionSettings, candidates: readonly Candidate[], savesPerHour: number): Blocked | undefined {
  const { horizonMs } = settings;
  if (horizonMs === undefined || netSavings(settings, candidates, savesPerHour) >= 0) return undefined;
  return { reason: "NotRepaid", savesPerHour, hours: horizonMs / HOUR_MS, moveCost: disruptionCostUsd(settings, candidates) };
}
