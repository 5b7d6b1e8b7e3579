import { parseDuration } from "../lib/duration.ts";

/**
 * The value of the label termination_mode: how a drain ends that has so much time at most.
 * @param period a Go duration; undefined for a drain without an end
 * @param drainMs what a repair allows at most, ms
 * (karpenter: pkg/utils/nodeclaim/nodeclaim.go, DisruptionTerminationMode)
 */
export function terminationMode(period: string | undefined, drainMs?: number): "graceful" | "forceful" | "eventual" {
  if (period === undefined && drainMs === undefined) return "graceful";
  const own = period === undefined ? Number.POSITIVE_INFINITY : (parseDuration(period) ?? 0);
  return Math.min(own, drainMs ?? Number.POSITIVE_INFINITY) <= 0 ? "forceful" : "eventual";
}
