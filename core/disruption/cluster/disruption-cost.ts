import type { Pod } from "../../model/pod.ts";
import { evictionCost } from "../../pods/eviction-cost.ts";

/** What it costs to take a node away, without a unit: 1 for the node itself, and what its pods cost to move (disruption.md §2). */
export function disruptionCost(reschedulable: readonly Pod[]): number {
  return reschedulable.reduce((sum, pod) => sum + Math.max(0, evictionCost(pod)), 1);
}

interface Ranked {
  readonly node: string;
  readonly pricePerHour: number;
  readonly disruptionCost: number;
}

/** Most money per trouble first. Karpenter leaves the order of ties open; here the name decides, so equal input gives equal output. */
export function byGain(a: Ranked, b: Ranked): number {
  return b.pricePerHour / b.disruptionCost - a.pricePerHour / a.disruptionCost || (a.node < b.node ? -1 : 1);
}
