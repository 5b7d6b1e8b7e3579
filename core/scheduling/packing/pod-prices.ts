import type { SchedulingProblem } from "../problem/problem.ts";
import { TopologyState } from "../problem/topology-state.ts";
import { demandOf } from "./demand.ts";
import { offeringGroupsFor } from "./offering-groups.ts";
import { ShadowPrices } from "./shadow-prices.ts";

/** Rounds of the search for shadow prices; as many as packing uses for few items. No benchmark has tuned it. */
const DUAL_ROUNDS = 2;

/**
 * By class, the mean shadow price of one of its pods (USD per hour) when new nodes are launched for all pods of the
 * problem together. The sum over all pods is a lower bound of such a plan's price (weak duality); the sum over some
 * pods estimates what their room must cost. 0 for classes that packing leaves out.
 */
export function podShadowPrices(problem: SchedulingProblem): Float64Array {
  const podPrices = new Float64Array(problem.classes.length);
  const left = problem.classes.map(({ pods }) => pods.length);
  const demand = demandOf(problem, left, new TopologyState(problem.groups));
  if (demand.items.length === 0) return podPrices;
  const width = problem.axis.names.length;
  const { groups } = offeringGroupsFor(demand.kinds, width);
  const shadowPrices = new ShadowPrices(groups, demand.items, demand.kinds.length, width, DUAL_ROUNDS);
  const byItem = demand.items.map((item) => shadowPrices.valueOfPod(item));
  demand.itemOfPod.forEach((itemIndexes, index) => {
    if (itemIndexes === undefined || itemIndexes.length === 0) return;
    let sum = 0;
    for (const item of itemIndexes) sum += byItem[item] ?? 0;
    podPrices[index] = sum / itemIndexes.length;
  });
  return podPrices;
}
