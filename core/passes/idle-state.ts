import type { Node } from "../model/node.ts";
import { removedClaims } from "../model/removed-claims.ts";
import type { PodFacts } from "./check-pending.ts";
import { hasEvictions, leavingNodes, type TableReading } from "./leaving-nodes.ts";
import { type Read, read } from "./verdict.ts";

export interface ClusterFacts extends PodFacts, TableReading {
  readonly nodes: readonly Node[];
}

/** A cluster of more nodes has lists that are longer than a page, which a warm function remembers. */
const MAX_NODES_READ_EACH_TIME = 40;

type Idle =
  | { readonly next: "skip"; readonly state: "noPods" | "noEvictions" }
  | { readonly next: "run"; readonly state: "busy" | "large" };

const BUSY: Idle = { next: "run", state: "busy" };

/**
 * Whether a sweep of provisioning finds nothing to plan for: no pod is unbound and no node leaves ("noPods"), or the
 * nodes that leave have no pods to be placed ("noEvictions"). Any unbound pod counts, also one whose node is on its
 * way: the sweep finds what no wake-up has reported. A node that is deleted without a record that says so may have
 * another owner; its pods need places all the same. A sweep of a large cluster always runs: that keeps current what a
 * warm function remembers of its lists, and the next plan need not read all of it.
 * @param now ms since the epoch
 */
export function idleState(facts: Partial<ClusterFacts>, now: number): Read<"table" | "unboundPods" | "nodes" | "pods"> | Idle {
  const { records, commands, unboundPods, nodes, pods } = facts;
  if (records === undefined || commands === undefined) return read("table");
  if (unboundPods === undefined) return read("unboundPods");
  if (unboundPods.length > 0) return BUSY;
  const leaving = leavingNodes({ records, commands });
  if (leaving.has(undefined)) return BUSY;
  if (nodes === undefined) return read("nodes");
  if (nodes.length > MAX_NODES_READ_EACH_TIME) return { next: "run", state: "large" };
  if (nodes.some(({ metadata }) => metadata.deletionTimestamp !== undefined && !leaving.has(metadata.name))) return BUSY;
  if (removedClaims({ records, commands }).size === 0) return { next: "skip", state: "noPods" };
  if (pods === undefined) return read("pods");
  return hasEvictions(leaving, pods, records, now) ? BUSY : { next: "skip", state: "noEvictions" };
}
