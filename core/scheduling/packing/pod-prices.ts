import type { SchedulingProblem } from "../problem/problem.ts";
import { TopologyState } from "../problem/topology-state.ts";
import { demandOf } from "./demand.ts";
import { offeringGroupsFor } from "./offering-groups.ts";
import { ShadowPrices } from "./shadow-prices.ts";

const DUAL_ROUNDS = 2;

/**
 * By class, what the room of one of its pods is shadowPrices (USD per hour) on the cheapest mix of machines for all pods of the world together. The sum over
 * some pods is about what it would cost, at best, to run them on machines of their own kind; 0 for pods whose places cannot be foreseen.
 */
export function podShadowPrices(problem: SchedulingProblem): Float64Array {
  const podPrices = new Float64Array(problem.classes.length);
  const left = problem.classes.map(({ pods }) => pods.length);
  const demand = demandOf(problem, left, new TopologyState(problem.groups));
  if (demand.items.length === 0) return podPrices;
  const width = problem.axis.names.length;
  const shadowPrices = new ShadowPrices(offeringGroupsFor(demand.kinds, width), demand.items, demand.kinds.length, width, DUAL_ROUNDS);
  const byItem = demand.items.map((item) => shadowPrices.valueOfPod(item));
  demand.itemOfPod.forEach((itemIndexes, index) => {
    if (itemIndexes === undefined || itemIndexes.length === 0) return;
    let sum = 0;
    for (const item of itemIndexes) sum += byItem[item] ?? 0;
    podPrices[index] = sum / itemIndexes.length;
  });
  return podPrices;
}
