import type { Plan, PlannedNodeClaim } from "../../model/plan.ts";
import { EXTRA_NODE_PRICE } from "../../model/prices.ts";
import { isPending, podKey } from "../../pods/predicates.ts";
import type { ConsolidationTrial, MakeTrial } from "../../scheduling/make-trial.ts";
import type { Effort } from "../../scheduling/search.ts";
import { solve } from "../../scheduling/solve.ts";
import type { Candidate } from "../cluster/candidate.ts";
import { consolidatableFrom } from "../cluster/consolidate-after.ts";
import type { Simulate } from "../cluster/simulation.ts";
import type { ClusterView, Machine } from "../cluster/view.ts";

/** The product's scheduler; tests may put a simpler one in its place. */
export const simulateWithSolve: Simulate = (snapshot, options) => solve(snapshot, { effort: "quick", ...options });

/** What came of a trial. */
export interface Trial {
  /** Running pods that would have no place, with the reason; pods that were pending already do not count. */
  readonly unplaced: readonly (readonly [pod: string, error: string])[];
  readonly newNodeClaims: readonly PlannedNodeClaim[];
  readonly destinations: Destinations;
}

/** "namespace/name" of pods that would move to nodes that stay, to the names of their NodeClaims. */
export type Destinations = Readonly<Record<string, string>>;

/** Pods that would land on a node that is not up yet are not safe there, unless they must leave anyway (disruption.md §8). */
function unsafePlacements(view: ClusterView, plan: Plan, settling: ReadonlySet<string>): [string, string][] {
  const machines = new Map<string, Machine>();
  const leaving = new Set<string>();
  for (const machine of view.machines.values()) {
    machines.set(machine.name, machine);
    if (machine.markedForDeletion) for (const pod of machine.pods) leaving.add(podKey(pod));
  }
  const unsafe: [string, string][] = [];
  for (const { name, pods } of plan.existingNodes) {
    const machine = machines.get(name);
    if (!machine || (machine.initialized && !settling.has(name))) continue;
    const why = machine.initialized
      ? `would schedule against node/${name}, which is inside its consolidateAfter window`
      : `would schedule against uninitialized nodeclaim/${machine.claim.metadata.name}, node/${machine.node?.metadata.name ?? ""}`;
    for (const pod of pods) if (!leaving.has(pod)) unsafe.push([pod, why]);
  }
  return unsafe;
}

function settlingNodes(view: ClusterView): ReadonlySet<string> {
  const settling = new Set<string>();
  for (const { name, nodePool, claim, record, initialized } of view.machines.values()) {
    const pool = view.nodePools.get(nodePool ?? "");
    const from = pool && initialized ? consolidatableFrom(claim, pool, record) : 0;
    // Infinity is not a window: Never, or a static pool.
    if (from > view.now && from !== Number.POSITIVE_INFINITY) settling.add(name);
  }
  return settling;
}

/** Lays the cluster out for questions about these candidates, with the same nodes closed to their pods as in a trial. */
export function trialFor(view: ClusterView, candidates: readonly Candidate[], makeTrial: MakeTrial): ConsolidationTrial {
  const notUp = [...view.machines.values()].flatMap(({ name, initialized }) => (initialized ? [] : [name]));
  return makeTrial(view.bufferRoom().snapshot, {
    podsByNode: new Map(candidates.map(({ node, moving }) => [node, moving])),
    closed: new Set([...settlingNodes(view), ...notUp]),
    nodeHour: EXTRA_NODE_PRICE,
  });
}

/**
 * Plans the cluster without these nodes. `settle` (default true): consolidation leaves nodes alone that have just changed, as destinations too;
 * drift takes what there is.
 */
export function tryRemoval(
  view: ClusterView,
  candidates: readonly Candidate[],
  simulate: Simulate,
  { settle = true, effort = "quick" }: { readonly settle?: boolean; readonly effort?: Effort } = {},
): Trial {
  const settling = settle ? settlingNodes(view) : new Set<string>();
  const { snapshot } = view.bufferRoom();
  const plan = simulate(snapshot, {
    excludeNodes: new Set(candidates.map(({ node }) => node)),
    extraPods: candidates.flatMap(({ moving }) => moving),
    reservedMode: "fallback",
    settling,
    effort,
    ...(settle && { nodeHour: EXTRA_NODE_PRICE }),
  });
  const pending = new Set(snapshot.pods.filter(isPending).map(podKey));
  // Nobody is worse off when room for later moves to a node that is still coming up. Consolidation must not lose it; drift has to go on.
  const virtual = new Set((snapshot.virtualPods ?? []).map(podKey));
  const errors = [
    ...Object.entries(plan.podErrors).filter(([pod]) => settle || !virtual.has(pod)),
    ...unsafePlacements(view, plan, settling).filter(([pod]) => !virtual.has(pod)),
  ];
  return {
    unplaced: errors.filter(([pod]) => !pending.has(pod)).sort(),
    newNodeClaims: plan.newNodeClaims,
    destinations: destinationsOf(view, plan, candidates),
  };
}

function destinationsOf(view: ClusterView, { existingNodes }: Plan, candidates: readonly Candidate[]): Destinations {
  const moving = new Set(candidates.flatMap(({ moving: pods }) => pods.map(podKey)));
  const claimOf = new Map([...view.machines.values()].map(({ name, claim }) => [name, claim.metadata.name]));
  return Object.fromEntries(
    existingNodes.flatMap(({ name, pods }) => {
      const claim = claimOf.get(name);
      return claim === undefined ? [] : pods.flatMap((pod) => (moving.has(pod) ? [[pod, claim] as const] : []));
    }),
  );
}
