import type { Pause } from "#core/model/pause.ts";
import { nextPlan } from "#core/passes/next-plan.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import { SWEEP_MS } from "../shared/cluster-entry.ts";
import type { ClusterState } from "../shared/cluster-state.ts";

/**
 * Has pods that a plan has left planned for again while NodeClaims are on their way, and when the first offering that
 * they wait for is tried again. kube-scheduler says only once that a pod fits nowhere, and that event may be lost.
 * However many plans ask for the same time, one wake-up is sent.
 */
export async function planAgain(
  { records, refusedUntil }: Pick<ClusterState, "records" | "refusedUntil">,
  deps: ClusterDeps,
  retriedAt?: number,
): Promise<void> {
  const at = nextPlan(records, deps.now(), { refusedUntil, retriedAt });
  if (at !== undefined) await planAt(at, deps);
}

/** Plans for pods when the pause ends, unless a sweep comes before that. */
export async function planAtEnd({ until }: Pause, deps: ClusterDeps): Promise<void> {
  if (until !== undefined && until <= deps.now() + SWEEP_MS) await planAt(until, deps);
}

async function planAt(at: number, { cluster, store, wakeUps, now }: ClusterDeps): Promise<void> {
  if (!(await store.isFirstWithin(cluster.name, `provision-at/${at}`, now(), 2 * (at - now())))) return;
  await wakeUps.wake([{ kind: "provision", cluster: cluster.name, cause: "PodsWaiting", delayMs: at - now() }]);
}
