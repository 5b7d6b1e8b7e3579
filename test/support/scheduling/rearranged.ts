import type { Pod } from "../../../core/model/pod.ts";
import type { Snapshot } from "../../../core/model/snapshot.ts";
import { isReschedulable } from "../../../core/pods/predicates.ts";
import { makeConsolidationTrial } from "../../../core/scheduling/make-trial.ts";
import type { TrialCluster } from "../../../core/scheduling/trial-cluster.ts";

/** Pods that run on a node, by its name; nodes without any are among them. */
function homesIn(snapshot: Snapshot): ReadonlyMap<string, readonly Pod[]> {
  return new Map(
    snapshot.nodes.map(({ metadata: { name } }) => [
      name,
      snapshot.pods.filter((one) => one.spec.nodeName === name && isReschedulable(one)),
    ]),
  );
}

/** The cluster laid out, with all nodes free to go but those that stay; nothing may be moved to those that are closed. */
export function rearranged(snapshot: Snapshot, closed: readonly string[] = [], staying: readonly string[] = []): TrialCluster {
  const podsByNode = new Map([...homesIn(snapshot)].filter(([name]) => !staying.includes(name)));
  return makeConsolidationTrial(snapshot, { podsByNode, closed: new Set(closed) }).trialCluster;
}
