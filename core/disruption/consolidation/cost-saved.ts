import { INSTANCE_TYPE } from "../../model/labels.ts";
import type { PlannedNodeClaim } from "../../model/plan.ts";
import { surplusPrice } from "../../offerings/node-cost.ts";
import { podKey } from "../../pods/predicates.ts";
import { type Candidate, cpuRequested } from "../cluster/candidate.ts";
import type { ClusterView } from "../cluster/view.ts";
import { costed, totalCost } from "../prices/cost.ts";
import type { Destinations } from "./simulate.ts";

/** New nodes, and existing nodes that pods move to. */
export interface Move {
  readonly replacements: readonly PlannedNodeClaim[];
  readonly destinations: Destinations;
  /** Pods move to `destinations` and replacements alone, and not wherever else there is room. */
  readonly onlyDestinations?: boolean;
}

/**
 * What a removal saves the cluster's owner, USD per hour: prices of instances, surplus credits, volumes and overhead of
 * the candidates, less those of the replacements, less the surplus credits that pods add on the nodes they move to.
 */
export function costSavedBy(view: ClusterView, candidates: readonly Candidate[], { replacements, destinations }: Move): number {
  const after = totalCost(costed(replacements, view.snapshot, view.costs)) + surplusAdded(view, candidates, destinations);
  return totalCost(candidates) - after;
}

/** Surplus credits that the candidates' pods add on existing nodes, USD per hour. `destinations`: pod to NodeClaim. */
export function surplusAdded(view: ClusterView, candidates: readonly Candidate[], destinations: Destinations): number {
  const moving = candidates.flatMap((candidate) => candidate.moving);
  const byClaim = Map.groupBy(moving, (pod) => destinations[podKey(pod)]);
  let added = 0;
  for (const [claim, pods] of byClaim) {
    const machine = view.machines.get(claim ?? "");
    const types = view.snapshot.instanceTypes.get(machine?.nodePool ?? "") ?? [];
    const type = types.find(({ name }) => name === machine?.labels[INSTANCE_TYPE]);
    if (machine === undefined || type === undefined) continue;
    const before = cpuRequested(machine.pods);
    added += surplusPrice(type, before + cpuRequested(pods), view.costs) - surplusPrice(type, before, view.costs);
  }
  return added;
}
