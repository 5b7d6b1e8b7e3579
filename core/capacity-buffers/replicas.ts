import { ownValue } from "../lib/own-value.ts";
import type { CapacityBufferSpec } from "../model/capacity-buffer.ts";
import { parseResources, type Resources } from "../model/quantity.ts";

/**
 * Upper limit of virtual pods per buffer: a mistyped number must not stop the planning of the whole cluster. No
 * benchmark has tuned it.
 */
export const MAX_REPLICAS = 10_000;

/**
 * The number of virtual pods of a buffer: the larger of `replicas` and the percentage of the workload, limited by
 * `limits`; without either, as many as the limits allow. `scale` is the workload's replicas, undefined for a
 * PodTemplate; `requests` are those of one pod
 * (karpenter: pkg/controllers/capacitybuffer/controller.go, computeReplicas). Throws RangeError for a limit that is not
 * a quantity.
 */
export function replicasOf(spec: CapacityBufferSpec, scale: number | undefined, requests: Resources): number {
  const sizes = [spec.replicas, shareOf(spec.percentage, scale)].filter((size) => size !== undefined);
  const most = withinLimits(spec, requests);
  const wanted = sizes.length > 0 ? Math.min(Math.max(...sizes), most) : Number.isFinite(most) ? most : 0;
  return Math.min(wanted, MAX_REPLICAS);
}

/** The share, rounded up; undefined for a workload without pods. */
function shareOf(percentage: number | undefined, scale: number | undefined): number | undefined {
  if (percentage === undefined || scale === undefined || scale <= 0) return undefined;
  return Math.ceil((scale * percentage) / 100);
}

/** Whole pods that the tightest limit allows; Infinity when no limit names a requested resource. */
function withinLimits({ limits }: CapacityBufferSpec, requests: Resources): number {
  const counts = Object.entries(parseResources(limits)).flatMap(([name, limit]) => {
    const request = ownValue(requests, name) ?? 0;
    return request > 0 ? [Math.max(0, Math.floor(limit / request))] : [];
  });
  return Math.min(...counts);
}
