import type { Pod } from "../model/pod.ts";
import type { Snapshot } from "../model/snapshot.ts";
import { podUid } from "../pods/predicates.ts";
import type { Attempt } from "./attempt.ts";
import type { NodeView } from "./problem/node-view.ts";

/** Where pods went when some of them are virtual pods of CapacityBuffers. */
interface WithHeadroom {
  readonly attempt: Attempt;
  /** Real pods that were put on existing nodes before the attempt, by node name (NodeView.name). */
  readonly settled: ReadonlyMap<string, readonly Pod[]>;
  /** Virtual pods that were not tried. */
  readonly deferred: readonly Pod[];
}

const NONE_SETTLED: WithHeadroom["settled"] = new Map();

/**
 * Places real pods together with the virtual pods of CapacityBuffers, so that both share nodes, but with the same
 * result for real pods as if virtual ones came last. kube-scheduler does not know virtual pods and binds real pods to
 * any free room. Therefore no real pod may get a new node while a virtual pod holds room on an existing one (the new
 * node would stay unused), and when a NodePool's limits do not suffice for both, real pods have them.
 */
export function placeWithHeadroom(
  snapshot: Snapshot,
  pods: readonly Pod[],
  virtual: readonly Pod[],
  place: (snapshot: Snapshot, pods: readonly Pod[], virtual: readonly Pod[]) => Attempt,
): WithHeadroom {
  const virtualPods = new Set(virtual);
  const together = place(snapshot, pods, virtual);
  if (virtual.length === 0 || pods.length === 0 || isFair(together, virtualPods)) {
    return { attempt: together, settled: NONE_SETTLED, deferred: [] };
  }
  const alone = place(snapshot, pods, []);
  const taken = alone.nodes.filter((state) => state.pods.length > 0).map((state) => ({ view: state.node.view, pods: state.pods }));
  const here = new Set(taken.flatMap((node) => node.pods));
  const others = pods.filter((pod) => !here.has(pod));
  const afterwards = place(withSettled(snapshot, taken), others, virtual);
  return leftOf(afterwards, virtualPods) > leftOf(alone, virtualPods)
    ? { attempt: alone, settled: NONE_SETTLED, deferred: virtual }
    : { attempt: afterwards, settled: new Map(taken.map(({ view, pods: there }) => [view.name, there])), deferred: [] };
}

/** Whether no real pod is left, and none gets a new node while a virtual pod holds room on an existing node. */
function isFair(attempt: Attempt, virtualPods: ReadonlySet<Pod>): boolean {
  if (leftOf(attempt, virtualPods) > 0) return false;
  const holds = attempt.nodes.some(({ pods }) => pods.some((pod) => virtualPods.has(pod)));
  return !holds || attempt.claims.every(({ pods }) => pods.every((pod) => virtualPods.has(pod)));
}

/** Number of real pods that an attempt does not place. */
function leftOf({ failed }: Attempt, virtualPods: ReadonlySet<Pod>): number {
  let left = 0;
  for (const pods of failed.values()) left += pods.filter((pod) => !virtualPods.has(pod)).length;
  return left;
}

/** The snapshot after pods were put on nodes: bound to them, or nominated to the NodeClaim while it has no Node. */
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
