import { parseDuration } from "../lib/duration.ts";
import { fromRfc3339 } from "../model/conditions.ts";
import type { Node } from "../model/node.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { Pod } from "../model/pod.ts";
import { rescheduleDisruptionCost } from "../pods/eviction-cost.ts";
import { holdsNodeUntil, isDaemonSetPod, isReschedulable, isTerminal } from "../pods/predicates.ts";

/**
 * A NodeClaim that has an instance, with its node and the pods there; Machine (core/disruption/cluster/view.ts) is one.
 */
interface Replica {
  readonly claim: NodeClaim;
  readonly node: Node | undefined;
  readonly pods: readonly Pod[];
}

/** What the choice is made from; ClusterView (core/disruption/cluster/view.ts) is one. */
interface Replicas {
  /** By NodeClaim name. */
  readonly machines: ReadonlyMap<string, Replica>;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Which claims of a static pool are removed when it has more than `replicas`: first claims without a node, and those
 * that have expired or whose node is being deleted, then nodes with no pods but those of DaemonSets, then nodes whose
 * pods cost least to move and that expire soonest. Nodes that a pod's do-not-disrupt annotation holds come last
 * (karpenter: pkg/controllers/static/deprovisioning/controller.go, Controller.getDeprovisioningCandidates).
 * @param active names of the pool's claims that are not being removed.
 * @param count how many to choose.
 */
export function chooseSurplus(replicas: Replicas, active: readonly string[], count: number): readonly string[] {
  const ranked = active.map((name) => ({ name, rank: rankOf(replicas.machines.get(name), replicas.now) }));
  ranked.sort((a, b) => compare(a.rank, b.rank) || (a.name < b.name ? -1 : 1));
  return ranked.slice(0, count).map(({ name }) => name);
}

/** Compared number by number; the lowest is removed first. */
type Rank = readonly number[];

function rankOf(replica: Replica | undefined, now: number): Rank {
  if (replica?.node === undefined) return [0];
  // It ends whatever is chosen: a node that is being deleted takes its NodeClaim with it.
  if (replica.node.metadata.deletionTimestamp !== undefined || lifetimeRemaining(replica.claim, now) === 0) return [0];
  const held = replica.pods.some((pod) => holdsNodeUntil(pod, now) !== undefined) ? 1 : 0;
  const isEmpty = replica.pods.every((pod) => isDaemonSetPod(pod) || isTerminal(pod));
  if (isEmpty && held === 0) return [1];
  return [2, held, rescheduleDisruptionCost(replica.pods.filter(isReschedulable)) * lifetimeRemaining(replica.claim, now)];
}

/**
 * Share of a claim's lifetime that remains, from 1 at its creation to 0 when it expires; 1 for a claim that never
 * expires (karpenter: pkg/utils/disruption/disruption.go, LifetimeRemaining).
 */
function lifetimeRemaining({ spec, metadata }: NodeClaim, now: number): number {
  const lifetime = parseDuration(spec.expireAfter ?? "720h");
  if (lifetime === undefined || lifetime <= 0) return 1;
  const age = now - fromRfc3339(metadata.creationTimestamp);
  return Math.min(1, Math.max(0, 1 - age / lifetime));
}

function compare(a: Rank, b: Rank): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
