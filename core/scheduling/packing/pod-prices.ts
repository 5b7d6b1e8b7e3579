import type { World } from "../problem/problem.ts";
import { TopologyState } from "../problem/topology-state.ts";
import { supplyOf } from "./items.ts";
import { cellsOf } from "./offering-groups.ts";
import { Worth } from "./shadow-prices.ts";

const ROUNDS = 2;

/**
 * By class, what the room of one of its pods is worth (USD per hour) on the cheapest mix of machines for all pods of the world together. The sum over
 * some pods is about what it would cost, at best, to run them on machines of their own kind; 0 for pods whose places cannot be foreseen.
 */
export function podWorths(world: World): Float64Array {
  const worths = new Float64Array(world.classes.length);
  const left = world.classes.map(({ pods }) => pods.length);
  const supply = supplyOf(world, left, new TopologyState(world.groups));
  if (supply.stocks.length === 0) return worths;
  const width = world.axis.names.length;
  const worth = new Worth(cellsOf(supply.kinds, width), supply.stocks, supply.kinds.length, width, ROUNDS);
  const byStock = supply.stocks.map((stock) => worth.of(stock));
  supply.draws.forEach((draw, index) => {
    if (draw === undefined || draw.length === 0) return;
    let sum = 0;
    for (const stock of draw) sum += byStock[stock] ?? 0;
    worths[index] = sum / draw.length;
  });
  return worths;
}
