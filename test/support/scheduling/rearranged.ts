import type { Pod } from "#core/model/pod.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { isReschedulable } from "#core/pods/predicates.ts";
import { makeConsolidationTrial } from "#core/scheduling/make-trial.ts";
import type { TrialCluster } from "#core/scheduling/trial-cluster.ts";

/** The reschedulable pods of each node by its name; empty nodes are included. */
function homesIn(snapshot: Snapshot): ReadonlyMap<string, readonly Pod[]> {
  return new Map(
    snapshot.nodes.map(({ metadata: { name } }) => [
      name,
      snapshot.pods.filter((one) => one.spec.nodeName === name && isReschedulable(one)),
    ]),
  );
}

/** A trial cluster that may remove all nodes except `staying`, and that moves no pods to the nodes of `closed`. */
export function rearranged(snapshot: Snapshot, closed: readonly string[] = [], staying: readonly string[] = []): TrialCluster {
  const podsByNode = new Map([...homesIn(snapshot)].filter(([name]) => !staying.includes(name)));
  return makeConsolidationTrial(snapshot, { podsByNode, closed: new Set(closed) }).trialCluster;
}
