import { disruptionCost } from "../disruption/cluster/disruption-cost.ts";
import { podDoNotDisrupt } from "../disruption/cluster/rules/pod-do-not-disrupt.ts";
import type { ClusterView, Machine } from "../disruption/cluster/view.ts";
import { parseDuration } from "../lib/duration.ts";
import { fromRfc3339 } from "../model/conditions.ts";
import { isDaemonSetPod, isReschedulable, isTerminal } from "../pods/predicates.ts";

/**
 * Which of a static pool's claims go when it has too many (nodepool.md §7): those without a machine, then those with nothing on them but daemons, then
 * those whose pods are the cheapest to move and that are the nearest to their end. What a pod's do-not-disrupt holds goes last.
 * @param active names of the claims that there are.
 */
export function chooseSurplus(view: ClusterView, active: readonly string[], count: number): readonly string[] {
  const ranked = active.map((name) => ({ name, rank: rankOf(view.machines.get(name), view) }));
  ranked.sort((a, b) => compare(a.rank, b.rank) || (a.name < b.name ? -1 : 1));
  return ranked.slice(0, count).map(({ name }) => name);
}

/** Compared number by number; the lowest goes first. */
type Rank = readonly number[];

function rankOf(machine: Machine | undefined, view: ClusterView): Rank {
  if (machine?.node === undefined) return [0];
  const held = podDoNotDisrupt(machine, view) === undefined ? 0 : 1;
  const isEmpty = machine.pods.every((pod) => isDaemonSetPod(pod) || isTerminal(pod));
  if (isEmpty && held === 0) return [1];
  return [2, held, disruptionCost(machine.pods.filter(isReschedulable)) * lifetimeLeft(machine, view.now)];
}

/** Share of a claim's life that is left, from 1 at its creation to 0 when it expires; 1 for one that never does. */
function lifetimeLeft({ claim }: Machine, now: number): number {
  const lifetime = parseDuration(claim.spec.expireAfter ?? "720h");
  if (lifetime === undefined || lifetime <= 0) return 1;
  const age = now - fromRfc3339(claim.metadata.creationTimestamp);
  return Math.min(1, Math.max(0, 1 - age / lifetime));
}

function compare(a: Rank, b: Rank): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
