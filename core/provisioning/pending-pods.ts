import { conditionOf, fromRfc3339 } from "../model/conditions.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { Pod } from "../model/pod.ts";
import { isActive, isDaemonSetPod, isReschedulable, podUid } from "../pods/predicates.ts";
import { nominationsOf } from "./nominations.ts";

/** When kube-scheduler gave the pod up, ms since the epoch; of a pod that it has not tried, its creation. */
export function arrivalOf({ metadata, status }: Pod): number {
  return fromRfc3339(conditionOf(status?.conditions, "PodScheduled")?.lastTransitionTime ?? metadata.creationTimestamp);
}

/** No machine boots faster: its node cannot be there before. */
export const MIN_BOOT_MS = 10_000;

/**
 * The unbound pods that may need a plan: without pods whose node is on its way, because no other pod can have taken
 * their places yet.
 */
export function openPods(unbound: readonly Pod[], records: readonly NodeClaimRecord[], now: number): readonly Pod[] {
  const booting = records.filter(({ launchedAt, initializedAt }) => initializedAt === undefined && now - (launchedAt ?? now) < MIN_BOOT_MS);
  const onTheirWay = nominationsOf(booting, now);
  return unbound.filter((pod) => isActive(pod) && !isDaemonSetPod(pod) && !onTheirWay.has(podUid(pod)));
}

/**
 * The pods of leaving nodes that may need a plan: without pods whose new node is on its way. They are bound where they
 * are until it takes pods, and when another pod has taken their places by then, kube-scheduler gives the pods up that
 * follow them.
 */
export function movingPods(pods: readonly Pod[], records: readonly NodeClaimRecord[], now: number): readonly Pod[] {
  const places = underWay(records, now);
  return pods.filter((pod) => isReschedulable(pod) && !places.has(podUid(pod)));
}

/**
 * Whether a node that is not initialized is the one that all of these pods wait for. That it is registered is then no
 * news for them: nominations have nothing to distinguish, and a plan is made when it is initialized.
 */
export function waitForOneNode(pods: readonly Pod[], records: readonly NodeClaimRecord[], now: number): boolean {
  const places = underWay(records, now);
  const nodes = new Set(pods.map((pod) => places.get(podUid(pod))));
  return nodes.size === 1 && !nodes.has(undefined);
}

/**
 * Whether one node alone is on its way: of pods that all have places, it is the one that those wait for which are not
 * bound.
 */
export const startsAlone = (records: readonly NodeClaimRecord[]): boolean =>
  records.filter(({ initializedAt, terminating }) => initializedAt === undefined && terminating === undefined).length === 1;

const underWay = (records: readonly NodeClaimRecord[], now: number): ReadonlyMap<string, string> =>
  nominationsOf(
    records.filter(({ initializedAt }) => initializedAt === undefined),
    now,
  );
