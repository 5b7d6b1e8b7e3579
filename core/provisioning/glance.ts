import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { Pod } from "../model/pod.ts";
import { isActive, isDaemonSetPod, podUid } from "../pods/predicates.ts";
import { nominationsOf } from "./nominations.ts";

/** No machine boots faster: its node is looked for in vain before. */
export const MIN_BOOT_MS = 10_000;

/**
 * The pods that a plan may have to do something about, of those that are not bound: without those whose node is on its
 * way, because no other pod can have taken their places yet.
 */
export function openPods(unbound: readonly Pod[], records: readonly NodeClaimRecord[], now: number): readonly Pod[] {
  const booting = records.filter(({ launchedAt, initializedAt }) => initializedAt === undefined && now - (launchedAt ?? now) < MIN_BOOT_MS);
  const onTheirWay = nominationsOf(booting, now);
  return unbound.filter((pod) => isActive(pod) && !isDaemonSetPod(pod) && !onTheirWay.has(podUid(pod)));
}
