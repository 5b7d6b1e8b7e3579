import { fromRfc3339 } from "../model/conditions.ts";
import { isIntended } from "../model/node-claim.ts";
import type { Pod } from "../model/pod.ts";
import type { Snapshot } from "../model/snapshot.ts";
import { isActive, isReschedulable, podUid } from "../pods/predicates.ts";
import { NodeState } from "./problem/existing-node.ts";
import { type NodeView, nodeViews } from "./problem/node-view.ts";
import type { PodData } from "./problem/pod-class.ts";
import { problemFor, type SchedulingProblem } from "./problem/problem.ts";
import { putOnNode } from "./problem/put-on-node.ts";
import { TopologyState } from "./problem/topology-state.ts";
import type { PreferencePolicy } from "./rules/preferences.ts";

/**
 * The snapshot with the nominations that hold. A pod keeps the NodeClaim that it was planned for while that still takes
 * it. kube-scheduler may bind another pod there: then a place elsewhere is free, mostly that of the other pod, and the
 * displaced pod is nominated to a NodeClaim with room, at the cost of its preferences. Only pods without any place are
 * nominated no more, so that they are planned again.
 *
 *     pendingPods(keepNominations(snapshot)).pods; // those for which a node may be bought
 *
 * A nomination ends when the pod is bound, unless its node is being removed: then the pod needs its new place still.
 * Until a NodeClaim is launched its node is not known, and its nominations are not checked.
 */
export function keepNominations(snapshot: Snapshot, policy: PreferencePolicy = "Respect"): Snapshot {
  if (snapshot.nominated.size === 0) return snapshot;
  const views = nodeViews(snapshot);
  const launched = new Set(views.flatMap(({ claim }) => (claim && !isIntended(claim) ? [claim.metadata.name] : [])));
  const leaving = new Set(views.flatMap(({ node, markedForDeletion }) => (node && markedForDeletion ? [node.metadata.name] : [])));
  const nominated = new Map<string, string>();
  const checked: Pod[] = [];
  const keep = (pod: Pod, isVirtual: boolean): void => {
    const claim = snapshot.nominated.get(podUid(pod));
    if (claim === undefined || !needsPlace(pod, leaving)) return;
    if (!launched.has(claim)) nominated.set(podUid(pod), claim);
    else if (!isVirtual) checked.push(pod);
  };
  for (const pod of snapshot.virtualPods ?? []) keep(pod, true);
  for (const pod of snapshot.pods) keep(pod, false);
  if (checked.length > 0) {
    // No node is bought here, so NodePools are left out.
    const problem = problemFor({ ...snapshot, nodePools: [], nominated }, views, checked, {
      ...{ policy, minValuesPolicy: "Strict", reservedMode: "strict" },
      ...{ excludeNodes: new Set(), settling: new Set(), moved: new Set() },
    });
    const places = placesFor(problem, snapshot.nominated);
    for (const [pod, claim] of places) nominated.set(podUid(pod), claim);
    const isOpen = unsettledPlans(views, snapshot.now);
    const left = checked.filter((pod) => !places.has(pod) && isOpen(snapshot.nominated.get(podUid(pod)) ?? ""));
    if (left.length > 0) return { ...snapshot, nominated, displaced: new Set(left.map(podUid)) };
  }
  return { ...snapshot, nominated };
}

/**
 * How long a plan's nodes are waited for, ms from the creation of their NodeClaims: EC2 nodes are ready after 30 to 60
 * s. No benchmark has tuned it.
 */
const MAX_START_MS = 60_000;

/** NodeClaims created within this time belong to one plan, ms. */
const ONE_PLAN_MS = 5_000;

/**
 * Whether a NodeClaim's plan is unsettled: a node of the same plan is still to start. kube-scheduler displaces pods
 * with each node that starts, and one purchase for all of them is smaller than one after each node.
 */
function unsettledPlans(views: readonly NodeView[], now: number): (claim: string) => boolean {
  const createdAt = new Map(
    views.flatMap(({ claim }) => (claim ? [[claim.metadata.name, fromRfc3339(claim.metadata.creationTimestamp)] as const] : [])),
  );
  const starting = views.flatMap(({ claim, initialized, markedForDeletion }) => {
    const at = createdAt.get(claim?.metadata.name ?? "") ?? 0;
    return !initialized && !markedForDeletion && now < at + MAX_START_MS ? [at] : [];
  });
  return (claim) => starting.some((at) => Math.abs(at - (createdAt.get(claim) ?? 0)) <= ONE_PLAN_MS);
}

function needsPlace(pod: Pod, leaving: ReadonlySet<string>): boolean {
  const nodeName = pod.spec.nodeName ?? "";
  return nodeName === "" ? isActive(pod) : leaving.has(nodeName) && isReschedulable(pod);
}

/** A pod with its relaxation steps, strictest first. */
interface Item {
  readonly pod: Pod;
  readonly steps: readonly PodData[];
}

/**
 * A NodeClaim for each pod, its own where that takes it; a pod that no NodeClaim takes has none. When displaced pods do
 * not fit into the room that is left, all pods are placed again: displaced ones first, and then in the order of the
 * queue (the largest first). Of these three results the first that leaves the fewest pods is taken.
 */
function placesFor(problem: SchedulingProblem, nominated: ReadonlyMap<string, string>): ReadonlyMap<Pod, string> {
  const items = problem.classes.flatMap(({ index, pods }) => pods.map((pod) => ({ pod, steps: problem.relaxations[index] ?? [] })));
  const own = ({ pod }: Item): string | undefined => nominated.get(podUid(pod));

  const kept = new Places(problem);
  const left = kept.fill(kept.keep(items, own));
  if (left.length === 0) return kept.found;

  const displaced = new Set(left);
  const exchanged = new Places(problem);
  const leftOfDisplaced = exchanged.fill(left);
  const others = items.filter((item) => !displaced.has(item));
  const leftOfExchange = exchanged.fill([...leftOfDisplaced, ...exchanged.keep(others, own)]);
  if (leftOfExchange.length === 0) return exchanged.found;

  const anew = new Places(problem);
  const leftAnew = anew.fill(items);
  const fewest = Math.min(left.length, leftOfExchange.length, leftAnew.length);
  return left.length === fewest ? kept.found : leftOfExchange.length === fewest ? exchanged.found : anew.found;
}

/** NodeClaims while they are filled with pods. */
class Places {
  readonly found = new Map<Pod, string>();
  readonly #states = new Map<string, NodeState>();
  readonly #topology: TopologyState;

  constructor({ nodes, groups }: SchedulingProblem) {
    for (const node of nodes) if (node.view.claim) this.#states.set(node.view.claim.metadata.name, new NodeState(node));
    this.#topology = new TopologyState(groups);
  }

  /** Places each pod on its own NodeClaim where that takes it; returns the others. */
  keep(items: readonly Item[], own: (item: Item) => string | undefined): readonly Item[] {
    return repeated(items, (item) => {
      const claim = own(item) ?? "";
      const state = this.#states.get(claim);
      return state !== undefined && this.#place(item, [[claim, state]]);
    });
  }

  /** Places each pod on the first NodeClaim that takes it, giving up few preferences; returns the others. */
  fill(items: readonly Item[]): readonly Item[] {
    return repeated(items, (item) => this.#place(item, this.#states));
  }

  #place({ pod, steps }: Item, claims: Iterable<readonly [string, NodeState]>): boolean {
    for (const podData of steps) {
      if (podData.contradiction !== undefined) continue;
      for (const [claim, state] of claims) {
        if (putOnNode(state, podData, pod, this.#topology) !== "placed") continue;
        this.found.set(pod, claim);
        return true;
      }
    }
    return false;
  }
}

/** Repeats while some pod was placed, because rules between pods may ask for an order. Returns the pods left. */
function repeated(items: readonly Item[], place: (item: Item) => boolean): readonly Item[] {
  let left = items;
  for (let before = Number.POSITIVE_INFINITY; left.length > 0 && left.length < before; ) {
    before = left.length;
    left = left.filter((item) => !place(item));
  }
  return left;
}
