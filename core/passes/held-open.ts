import type { Pod } from "../model/pod.ts";
import { arrivalOf } from "../provisioning/pending-pods.ts";

interface Window {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly batchMaxMs: number;
}

/** How late a wake-up may be, ms: what the queue holds back, and a plan that is under way. */
const LATE_MS = 10_000;

/** Whether one of the pods has waited for longer than a batching window may last. */
export const hasOutwaited = (pods: readonly Pod[], { now, batchMaxMs }: Window): boolean =>
  pods.some((pod) => pod.spec.nodeName === undefined && now - arrivalOf(pod) > batchMaxMs);

/**
 * Whether pods that come and go have held batching windows open for as long as one may last, while another pod has
 * waited for longer. Each window begins with a pod that still waits: pods that vanish within seconds and are followed
 * by others would begin a window each time, and nothing would ever be planned.
 * @param since when the first of the windows began, ms since the epoch; NaN when that is not known
 * @returns "open": wait; "begins": wait, and remember that the windows begin now; "overdue": plan now
 */
export function windowState(since: number, { now, batchMaxMs }: Window): "open" | "begins" | "overdue" {
  const ageMs = now - since;
  // Checks of an open window follow each other within its longest time, and may be late by as much again.
  const isOneRun = ageMs >= 0 && ageMs < 2 * batchMaxMs + LATE_MS;
  if (!isOneRun) return "begins";
  return ageMs < batchMaxMs ? "open" : "overdue";
}
