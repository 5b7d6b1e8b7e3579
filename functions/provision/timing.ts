import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { Pod } from "#core/model/pod.ts";
import type { WakeUpReason } from "#core/ports/wake-up-causes.ts";
import { PLAN_HELD_BACK_MS } from "#core/ports/wake-ups.ts";
import { windowLeft } from "#core/provisioning/batching-window.ts";
import { nextLook } from "#core/provisioning/next-look.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import type { ClusterState } from "../shared/cluster-state.ts";

/**
 * How long a plan waits for further pods, ms. The queue has held the wake-up back, so pods that it names by their
 * number need no second window; for any other cause the window of pods that have only just become pending is still
 * open.
 */
export function batchingWait(
  reason: WakeUpReason<"provision">,
  pending: readonly Pod[],
  records: readonly NodeClaimRecord[],
  { now, settings }: ClusterDeps,
): number {
  const unbound = pending.filter(({ spec }) => spec.nodeName === undefined);
  const announced = reason.cause === "PodsUnschedulable" && settings.batchIdleMs <= PLAN_HELD_BACK_MS ? Number(reason.detail) : 0;
  const plannedAt = Math.max(0, ...records.map(({ createdAt }) => createdAt));
  return windowLeft(unbound, { now: now(), idleMs: settings.batchIdleMs, maxMs: settings.batchMaxMs, announced, plannedAt });
}

/**
 * Has pods that a plan has left looked at again while NodeClaims are on their way. kube-scheduler says only once that a
 * pod fits nowhere, and what it said may be lost. However many plans ask for the same time, one wake-up is sent.
 */
export async function lookAgain(
  { records, refusedUntil }: Pick<ClusterState, "records" | "refusedUntil">,
  { cluster, store, wakeUps, now }: ClusterDeps,
): Promise<void> {
  const at = nextLook(records, now(), refusedUntil);
  if (at === undefined || !(await store.isFirstWithin(cluster.name, `provision-at/${at}`, now(), 2 * (at - now())))) return;
  await wakeUps.wake([{ kind: "provision", cluster: cluster.name, cause: "PodsWaiting", delayMs: at - now() }]);
}
