import type { Plan } from "../model/plan.ts";
import type { Pod } from "../model/pod.ts";
import type { Snapshot } from "../model/snapshot.ts";
import { podKey } from "../pods/predicates.ts";
import { nodeViews } from "../scheduling/problem/node-view.ts";
import { arrivalOf } from "./pending-pods.ts";

/** kube-scheduler binds a pod to a node that has room within seconds; a pod that is older than this, ms, waits. */
const BOUND_WITHIN_MS = 30_000;

/** A machine that is on its way or a node that runs, with the pods that wait for it. */
export interface WaitingPlace {
  /** "" for a node without a NodeClaim. */
  readonly nodeClaim: string;
  /** Name of the Node; undefined until it has joined. */
  readonly node: string | undefined;
  readonly nodePool: string;
  /** Whether the node takes pods already. */
  readonly isReady: boolean;
  readonly pods: readonly Pod[];
}

/** Where a plan places pods that wait without buying anything for them. */
export function waitingPlaces({ existingNodes }: Pick<Plan, "existingNodes">, snapshot: Snapshot): readonly WaitingPlace[] {
  if (existingNodes.length === 0) return [];
  const views = new Map(nodeViews(snapshot).map((view) => [view.name, view]));
  const unbound = new Map(snapshot.pods.filter(({ spec }) => !spec.nodeName).map((pod) => [podKey(pod), pod]));
  return existingNodes.flatMap(({ name, pods }): readonly WaitingPlace[] => {
    const view = views.get(name);
    if (view === undefined) return [];
    const { claim, node, nodePool = "", initialized: isReady } = view;
    const waiting = pods
      .map((pod) => unbound.get(pod))
      .filter((pod) => pod !== undefined)
      .filter((pod) => !isReady || snapshot.now - arrivalOf(pod) >= BOUND_WITHIN_MS);
    return waiting.length === 0
      ? []
      : [{ nodeClaim: claim?.metadata.name ?? "", node: node?.metadata.name, nodePool, isReady, pods: waiting }];
  });
}
