import { xorshift32 } from "../../lib/pseudo-random.ts";
import type { Contents } from "./greedy-knapsack.ts";
import type { OptimalPacker } from "./optimal-packer.ts";
import { MIN_GAIN, type NodeBatch, priceOf } from "./packer.ts";

/** Nodes of one part: from 2 to this. Larger parts have too many states (`npm run -s bench -- optimum`). */
const MAX_NODES_OF_PART = 6;
/** Parts that are looked at, for each node and at most; the packer's steps end it sooner where the parts are new. */
const MAX_PARTS_PER_NODE = 40;
const MAX_PARTS = 2000;

/**
 * Improves a packing by a large neighbourhood search (Shaw 1998): the pods of a few nodes are packed at the lowest cost
 * that there is, and the new nodes are kept if they are cheaper. Batches of one node each. Deterministic, as ruin and
 * recreate.
 */
export function repackParts(start: readonly NodeBatch[], packer: OptimalPacker): readonly NodeBatch[] {
  let nodes = byLoss(start);
  const next = xorshift32(nodes.length);
  const tried = new Set<string>();
  const parts = Math.min(MAX_PARTS, MAX_PARTS_PER_NODE * nodes.length);
  for (let n = 0; n < parts && nodes.length > 1 && !packer.isSpent; n++) {
    const size = Math.min(nodes.length, 2 + (next() % (MAX_NODES_OF_PART - 1)));
    // Nodes with a high loss are chosen more often: of two places, the first.
    const chosen = new Set([Math.min(next() % nodes.length, next() % nodes.length)]);
    while (chosen.size < size) chosen.add(next() % nodes.length);
    const part = [...chosen].flatMap((at) => nodes[at] ?? []);
    const pods = podsOf(part);
    const text = pods.join(" ");
    if (tried.has(text)) continue;
    tried.add(text);
    const repacked = packer.pack(pods, priceOf(part) - MIN_GAIN);
    if (repacked !== undefined && repacked.length > 0) nodes = byLoss([...nodes.filter((_, at) => !chosen.has(at)), ...repacked]);
  }
  return nodes;
}

function byLoss(nodes: readonly NodeBatch[]): readonly NodeBatch[] {
  return nodes.toSorted((a, b) => b.loss - a.loss);
}

/** The pods of some nodes by item. */
export function podsOf(nodes: readonly NodeBatch[]): Contents {
  const pods = new Map<number, number>();
  for (const { contents } of nodes) for (const [item, n] of contents) pods.set(item, (pods.get(item) ?? 0) + n);
  return [...pods].sort(([a], [b]) => a - b);
}
