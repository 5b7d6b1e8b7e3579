import type { Plan, PlannedNodeClaim } from "../../model/plan.ts";
import { isAsleep } from "../../node-pool/schedule.ts";
import { isPending, podKey } from "../../pods/predicates.ts";
import type { ConsolidationTrial, MakeTrial } from "../../scheduling/make-trial.ts";
import type { Effort } from "../../scheduling/search.ts";
import { solve } from "../../scheduling/solve.ts";
import type { Candidate } from "../cluster/candidate.ts";
import { settledFrom } from "../cluster/consolidate-after.ts";
import type { Simulate, SimulateOptions } from "../cluster/simulation.ts";
import type { ClusterView, StateNode } from "../cluster/view.ts";

/** The product's scheduler as `simulate`, with the quick search unless set; tests may pass a simpler one. */
export const simulateWithSolve: Simulate = (snapshot, options) => solve(snapshot, { effort: "quick", ...options });

/** The result of a simulated removal. */
export interface RemovalTrial {
  /** Running pods that would not schedule, with the reason; pods that are pending already do not count. */
  readonly unplaced: readonly (readonly [pod: string, error: string])[];
  readonly newNodeClaims: readonly PlannedNodeClaim[];
  readonly destinations: Destinations;
}

/** Pods that would move to existing nodes: "namespace/name" to the name of the node's NodeClaim. */
export type Destinations = Readonly<Record<string, string>>;

/**
 * Pods that would move to a node that is not initialized or that is inside its consolidateAfter window: such a
 * placement may fail. Pods of nodes that are being removed are exempt, because they have to move anyway.
 */
function unsafePlacements(view: ClusterView, plan: Plan, settling: ReadonlySet<string>): [string, string][] {
  const machines = new Map<string, StateNode>();
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

/** Names of the nodes that no pod is moved to: inside their consolidateAfter window, or of a pool that sleeps. */
function settlingNodes(view: ClusterView): ReadonlySet<string> {
  const settling = new Set<string>();
  for (const { name, nodePool, claim, record, initialized } of view.machines.values()) {
    const pool = view.nodePools.get(nodePool ?? "");
    if (pool && isAsleep(pool, view.now)) settling.add(name);
    const from = pool && initialized ? settledFrom(claim, pool, record) : 0;
    // Infinity (consolidateAfter Never, or a static pool) is no window.
    if (from > view.now && from !== Number.POSITIVE_INFINITY) settling.add(name);
  }
  return settling;
}

/** The trial cluster for these candidates; the same nodes as in tryRemoval accept no pods. */
export function trialFor(view: ClusterView, candidates: readonly Candidate[], makeTrial: MakeTrial): ConsolidationTrial {
  const uninitialized = [...view.machines.values()].flatMap(({ name, initialized }) => (initialized ? [] : [name]));
  return makeTrial(view.bufferRoom().snapshot, {
    podsByNode: new Map(candidates.map(({ node, moving }) => [node, moving])),
    closed: new Set([...settlingNodes(view), ...uninitialized]),
    ...view.costs,
  });
}

/**
 * Simulates the cluster without the candidates (karpenter: pkg/controllers/disruption/helpers.go, SimulateScheduling).
 * `settle` (default true): as consolidation needs it, no pod moves to a node inside its consolidateAfter window; Drift
 * sets it to false and accepts any node but those that are `closed`.
 */
export function tryRemoval(
  view: ClusterView,
  candidates: readonly Candidate[],
  simulate: Simulate,
  {
    settle = true,
    effort = "quick",
    closed = new Set(),
    reservedMode = "fallback",
  }: {
    readonly settle?: boolean;
    readonly effort?: Effort;
    readonly closed?: ReadonlySet<string>;
    readonly reservedMode?: SimulateOptions["reservedMode"];
  } = {},
): RemovalTrial {
  const settling = settle ? settlingNodes(view).union(closed) : closed;
  const { snapshot } = view.bufferRoom();
  const plan = simulate(snapshot, {
    excludeNodes: new Set(candidates.map(({ node }) => node)),
    extraPods: candidates.flatMap(({ moving }) => moving),
    reservedMode,
    settling,
    effort,
    ...view.costs,
  });
  const pending = new Set(snapshot.pods.filter(isPending).map(podKey));
  // Virtual pods of CapacityBuffers may move to a node that is not initialized. Consolidation must not lose their room;
  // Drift may.
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
