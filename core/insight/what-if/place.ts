import { withCommandRoom } from "../../disruption/cluster/command-room.ts";
import { viewCluster } from "../../disruption/cluster/view.ts";
import type { Plan } from "../../model/plan.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { isPending, podKey } from "../../pods/predicates.ts";
import { nodeViews } from "../../scheduling/problem/node-view.ts";
import { pendingPods } from "../../scheduling/problem/pending-pods.ts";
import { affordable } from "../../static-capacity/affordable.ts";
import { staticClaim } from "../../static-capacity/claim.ts";
import { countReplicas } from "../../static-capacity/count.ts";
import { replicaChanges } from "../../static-capacity/plan.ts";
import { chooseSurplus } from "../../static-capacity/surplus.ts";
import { bind, buy, type Order, remove, type Stage } from "./stage.ts";

/** The stage after one run of provisioning. */
interface Placed {
  readonly stage: Stage;
  /** Names of the NodeClaims that were created. */
  readonly claims: readonly string[];
  /** How many pods they were created for. */
  readonly pods: number;
  readonly podErrors: Plan["podErrors"];
}

/**
 * One run of provisioning: pending pods are bound to initialized nodes or get new NodeClaims. With `staticCapacity`,
 * static NodePools are scaled to their `replicas` first.
 */
export function place(from: Stage, provision: (snapshot: Snapshot) => Plan, staticCapacity: boolean): Placed {
  const stage = staticCapacity ? withReplicas(from) : { stage: from, names: [] };
  const seen = seenBy(stage.stage);
  const { pods, virtual, ignored } = pendingPods(seen);
  if (pods.length + virtual.length + ignored.length === 0) return { stage: stage.stage, claims: stage.names, pods: 0, podErrors: {} };
  const plan = provision(seen);
  const orders = plan.newNodeClaims.map((planned, i): Order => {
    return { planned, id: `${seen.now}/${seen.nodeClaims.length}/${i}`, reason: "provisioned" };
  });
  const ordered = buy(bind(stage.stage, bindings(seen, plan)), orders);
  return {
    stage: ordered.stage,
    claims: [...stage.names, ...ordered.names],
    pods: plan.newNodeClaims.reduce((sum, claim) => sum + claim.pods.length, 0),
    podErrors: plan.podErrors,
  };
}

/** The pending pods that the plan puts on initialized nodes: "namespace/name" to node name. */
export function bindings(snapshot: Snapshot, plan: Plan): ReadonlyMap<string, string> {
  const pending = new Set(snapshot.pods.filter(isPending).map(podKey));
  const up = new Set(nodeViews(snapshot).flatMap(({ name, initialized }) => (initialized ? [name] : [])));
  return new Map(
    plan.existingNodes.flatMap(({ name, pods }) =>
      up.has(name) ? pods.filter((pod) => pending.has(pod)).map((pod) => [pod, name] as const) : [],
    ),
  );
}

/**
 * The cluster as a decision reads it: nodes that commands remove are marked, and the room for their pods is nominated.
 */
export function seenBy({ snapshot, commands }: Stage): Snapshot {
  return withCommandRoom(viewCluster({ snapshot, records: [], commands, now: snapshot.now }).snapshot, commands);
}

/** Scales static NodePools to their `replicas`; `names` are the new NodeClaims. */
function withReplicas(from: Stage): { readonly stage: Stage; readonly names: readonly string[] } {
  let stage = from;
  const names: string[] = [];
  const { snapshot, commands } = from;
  const facts = { claims: snapshot.nodeClaims, records: [], commands };
  for (const { nodePool, add, remove: surplus } of replicaChanges(snapshot.nodePools, facts, snapshot.now)) {
    const { name } = nodePool.metadata;
    const whole = staticClaim(nodePool, snapshot.instanceTypes.get(name) ?? []);
    if ("ok" in whole) {
      const { count, planned } = affordable({ pool: nodePool, planned: whole.ok, wanted: add }, stage.snapshot);
      const orders = Array.from({ length: count }, (_, i): Order => {
        return { planned, id: `${snapshot.now}/${name}/${i}`, reason: "provisioned" };
      });
      const ordered = buy(stage, orders);
      stage = ordered.stage;
      names.push(...ordered.names);
    }
    const view = viewCluster({ snapshot, records: [], commands, now: snapshot.now });
    for (const claim of chooseSurplus(view, countReplicas(facts).get(name)?.active ?? [], surplus)) stage = remove(stage, claim);
  }
  return { stage, names };
}
