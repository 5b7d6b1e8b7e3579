import type { Pod } from "../model/pod.ts";
import type { Snapshot } from "../model/snapshot.ts";
import { isActive, isDaemonSetPod, isPending, podKey, podUid } from "../pods/predicates.ts";
import { nodeViews } from "../scheduling/problem/node-view.ts";
import { needingNominations } from "./interchangeable.ts";

/** A pod whose `status.nominatedNodeName` is to be set. */
export interface NodeNomination {
  readonly pod: Pod;
  /** Name of the Node. */
  readonly node: string;
}

/**
 * The nominations that follow from the plan: for each pod that is nominated to a NodeClaim, its Node once that is
 * registered. kube-scheduler then tries this node first, and keeps its room from pods of the same or a lower priority.
 *
 * Left out: pods whose field is set already, by us or by kube-scheduler for a preemption (a name of a node that is gone
 * says nothing), all pods of a node that no other pod waits for, because those come to the node anyway, and all pods
 * when they may take each other's places (interchangeable.ts). Pods that must be near another pod are left out, too:
 * kube-scheduler would keep the room from that pod, and refuse them there.
 */
export function nodeNominations(snapshot: Snapshot): readonly NodeNomination[] {
  if (snapshot.nominated.size === 0) return [];
  const views = nodeViews(snapshot);
  const nodeOf = new Map(
    views.flatMap(({ claim, node, registered, markedForDeletion }) =>
      claim && node && registered && !markedForDeletion ? [[claim.metadata.name, node.metadata.name] as const] : [],
    ),
  );
  const present = new Set(snapshot.nodes.map(({ metadata }) => metadata.name));
  const waiting = snapshot.pods.filter(waitsForNode);
  const claimOf = (pod: Pod): string | undefined => snapshot.nominated.get(podUid(pod));
  const claims = new Set(waiting.map(claimOf));
  if (claims.size < 2) return [];
  const needing = needingNominations(waiting.map((pod) => ({ pod, isServed: !mustBeNearOthers(pod) })));
  return waiting.flatMap((pod) => {
    if (mustBeNearOthers(pod) || !needing.has(pod)) return [];
    const node = nodeOf.get(claimOf(pod) ?? "");
    const isSet = present.has(pod.status?.nominatedNodeName ?? "");
    return node === undefined || isSet ? [] : [{ pod, node }];
  });
}

/** "namespace/name" of the pods of the snapshot whose nominations keep a plan of several nodes. */
export function podsToNominate({ pods }: Snapshot): ReadonlySet<string> {
  const waiting = pods.filter(waitsForNode).map((pod) => ({ pod, isServed: !mustBeNearOthers(pod) }));
  return new Set([...needingNominations(waiting)].map(podKey));
}

/** Whether a pod that has been planned for a node can be nominated to it. */
export function takesNomination(pod: Pod): boolean {
  return waitsForNode(pod) && !mustBeNearOthers(pod) && !pod.status?.nominatedNodeName;
}

function waitsForNode(pod: Pod): boolean {
  return isPending(pod) && isActive(pod) && !isDaemonSetPod(pod);
}

function mustBeNearOthers({ spec }: Pod): boolean {
  return Boolean(spec.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.length);
}
