import { ownValue } from "../lib/own-value.ts";
import type { CapacityBufferSpec } from "../model/capacity-buffer.ts";
import { parseResources, type Resources } from "../model/quantity.ts";

/**
 * Upper limit of virtual pods per buffer: a mistyped number must not stop the planning of the whole cluster. A plan for
 * so many takes half a second. No benchmark has tuned it.
 */
export const MAX_REPLICAS = 10_000;

/** Upper limit of the virtual pods of all buffers: a plan for a million takes minutes. No benchmark has tuned it. */
export const MAX_VIRTUAL_PODS = 20_000;

/**
 * Divides virtual pods among buffers so that a large buffer takes nothing from a small one: each buffer gets what it
 * asks for, or an equal part of what those that ask for less leave (max-min fairness).
 * @param wanted pods that each buffer asks for
 * @returns pods that each gets, at most MAX_REPLICAS each and `most` in all
 */
export function sharesOf(wanted: readonly number[], most = MAX_VIRTUAL_PODS): readonly number[] {
  const shares = wanted.map(() => 0);
  let left = most;
  const ascending = wanted.map((count, i) => ({ count: Math.min(count, MAX_REPLICAS), i })).sort((a, b) => a.count - b.count);
  for (const [done, { count, i }] of ascending.entries()) {
    const share = Math.min(count, Math.floor(left / (ascending.length - done)));
    shares[i] = share;
    left -= share;
  }
  return shares;
}

/**
 * The number of virtual pods that a buffer asks for: the larger of `replicas` and the percentage of the workload,
 * limited by `limits`; without either, as many as the limits allow. `scale` is the workload's replicas, undefined for a
 * PodTemplate; `requests` are those of one pod
 * (karpenter: pkg/controllers/capacitybuffer/controller.go, computeReplicas). Throws RangeError for a limit that is not
 * a quantity.
 */
export function replicasOf(spec: CapacityBufferSpec, scale: number | undefined, requests: Resources): number {
  const sizes = [spec.replicas, shareOf(spec.percentage, scale)].filter((size) => size !== undefined);
  const most = withinLimits(spec, requests);
  if (sizes.length > 0) return Math.min(Math.max(...sizes), most);
  return Number.isFinite(most) ? most : 0;
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
