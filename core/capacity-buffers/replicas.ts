import type { CapacityBufferSpec } from "../model/capacity-buffer.ts";
import { parseResources, type Resources } from "../model/quantity.ts";

/** However much a buffer asks for: a slip of the pen must not bring planning for everybody else to a halt. */
export const MOST_REPLICAS = 10_000;

/**
 * How many pods' worth of room a buffer asks for (scheduling.md §15): the larger of `replicas` and the percentage of the workload, as far as
 * `limits` go; without either, as many as the limits hold. `scale` is the workload's replicas, undefined for a PodTemplate, which has none;
 * `requests` is what one pod takes. Throws RangeError for a limit that is no quantity.
 */
export function replicasOf(spec: CapacityBufferSpec, scale: number | undefined, requests: Resources): number {
  const sizes = [spec.replicas, shareOf(spec.percentage, scale)].filter((size) => size !== undefined);
  const most = withinLimits(spec, requests);
  const wanted = sizes.length > 0 ? Math.min(Math.max(...sizes), most) : Number.isFinite(most) ? most : 0;
  return Math.min(wanted, MOST_REPLICAS);
}

/** Rounded up; a workload without pods makes no share. */
function shareOf(percentage: number | undefined, scale: number | undefined): number | undefined {
  if (percentage === undefined || scale === undefined || scale <= 0) return undefined;
  return Math.ceil((scale * percentage) / 100);
}

/** Whole pods that the scarcest limit holds; Infinity when no limit names a resource that the pod asks for. */
function withinLimits({ limits }: CapacityBufferSpec, requests: Resources): number {
  const counts = Object.entries(parseResources(limits)).flatMap(([name, limit]) => {
    const request = requests[name] ?? 0;
    return request > 0 ? [Math.max(0, Math.floor(limit / request))] : [];
  });
  return Math.min(...counts);
}
