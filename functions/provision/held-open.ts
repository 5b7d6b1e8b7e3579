import type { Pod } from "#core/model/pod.ts";
import { arrivalOf } from "#core/provisioning/batching-window.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";

/**
 * Whether pods that come and go have held batching windows open for as long as one may last, while another pod has
 * waited for longer. Each window begins with a pod that still waits, so that pods which vanish within seconds and are
 * followed by others would have a new window begin each time, and nothing would ever be planned. The table remembers
 * when the first of them began; it is asked only while a window is open and such a pod waits.
 */
export async function isHeldOpen(pods: readonly Pod[], { cluster, store, now, settings }: ClusterDeps): Promise<boolean> {
  const { batchMaxMs } = settings;
  const at = now();
  const hasWaited = pods.some((pod) => pod.spec.nodeName === undefined && at - arrivalOf(pod) > batchMaxMs);
  if (!hasWaited) return false;
  const document = `batching/${cluster.name}`;
  const since = Number((await store.documentVersion(document)) ?? Number.NaN);
  const ageMs = at - since;
  // Looks at an open window follow each other within its longest time, and may be late by as much again.
  const isOneRun = ageMs >= 0 && ageMs < 2 * batchMaxMs + LATE_MS;
  if (isOneRun && ageMs < batchMaxMs) return false;
  await store.putDocument(document, NOTHING, String(at));
  return isOneRun;
}

/** How late a wake-up may be, ms: what the queue holds back, and a plan that is under way. */
const LATE_MS = 10_000;
const NOTHING = new Uint8Array();
