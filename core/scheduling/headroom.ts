import type { Pod } from "../model/pod.ts";
import type { Snapshot } from "../model/snapshot.ts";
import { podUid } from "../pods/predicates.ts";
import type { Attempt } from "./attempt.ts";
import type { NodeView } from "./problem/node-view.ts";

/** Where pods went, when some of them do not exist. */
export interface WithHeadroom {
  readonly attempt: Attempt;
  /** Pods that exist and that went to existing nodes before the attempt, by the name of the node (NodeView). */
  readonly settled: ReadonlyMap<string, readonly Pod[]>;
  /** Virtual pods that were not tried. */
  readonly deferred: readonly Pod[];
}

const NONE_SETTLED: WithHeadroom["settled"] = new Map();

/**
 * Places pods together with those of CapacityBuffers, so that both share machines, and yet as if those came last: kube-scheduler knows nothing of
 * virtual pods and binds to any room there is. So a plan in which one holds room of an existing node while a pod that exists gets a new
 * machine would buy that machine in vain; and a limit that is not enough for both is for pods that exist.
 */
export function placeWithHeadroom(
  snapshot: Snapshot,
  pods: readonly Pod[],
  virtual: readonly Pod[],
  place: (snapshot: Snapshot, pods: readonly Pod[], virtual: readonly Pod[]) => Attempt,
): WithHeadroom {
  const imagined = new Set(virtual);
  const together = place(snapshot, pods, virtual);
  if (virtual.length === 0 || pods.length === 0 || isFair(together, imagined)) {
    return { attempt: together, settled: NONE_SETTLED, deferred: [] };
  }
  const alone = place(snapshot, pods, []);
  const taken = alone.nodes.filter((state) => state.pods.length > 0).map((state) => ({ view: state.node.view, pods: state.pods }));
  const here = new Set(taken.flatMap((node) => node.pods));
  const rest = pods.filter((pod) => !here.has(pod));
  const afterwards = place(withSettled(snapshot, taken), rest, virtual);
  return leftOf(afterwards, imagined) > leftOf(alone, imagined)
    ? { attempt: alone, settled: NONE_SETTLED, deferred: virtual }
    : { attempt: afterwards, settled: new Map(taken.map(({ view, pods: there }) => [view.name, there])), deferred: [] };
}

/** No pod that exists is left, or needs a new machine while a virtual one has a place on an existing node. */
function isFair(attempt: Attempt, imagined: ReadonlySet<Pod>): boolean {
  if (leftOf(attempt, imagined) > 0) return false;
  const holds = attempt.nodes.some(({ pods }) => pods.some((pod) => imagined.has(pod)));
  return !holds || attempt.claims.every(({ pods }) => pods.every((pod) => imagined.has(pod)));
}

/** How many pods that exist an attempt leaves. */
function leftOf({ failed }: Attempt, imagined: ReadonlySet<Pod>): number {
  let left = 0;
  for (const pods of failed.values()) left += pods.filter((pod) => !imagined.has(pod)).length;
  return left;
}

/** The snapshot as it will be when pods have gone where they were put: bound, or nominated where there is no Node yet. */
function withSettled(snapshot: Snapshot, taken: readonly { readonly view: NodeView; readonly pods: readonly Pod[] }[]): Snapshot {
  const nominated = new Map(snapshot.nominated);
  const nodeByUid = new Map<string, string>();
  for (const { view, pods } of taken) {
    for (const pod of pods) {
      if (view.node === undefined && view.claim !== undefined) nominated.set(podUid(pod), view.claim.metadata.name);
      nodeByUid.set(podUid(pod), view.node?.metadata.name ?? "");
    }
  }
  const pods = snapshot.pods.map((pod) => {
    const nodeName = nodeByUid.get(podUid(pod));
    return nodeName === undefined ? pod : { ...pod, spec: { ...pod.spec, nodeName } };
  });
  return { ...snapshot, pods, nominated };
}
