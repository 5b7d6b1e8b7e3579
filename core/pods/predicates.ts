// core/pods: what a pod's spec and status mean: reschedulable, drainable, protected, its taints' tolerations and its
// selectors. Pods, PodDisruptionBudgets and taints come in; yes or no, times and costs go out. Nodes, plans and
// evictions must not be known here.

import { fromRfc3339 } from "../model/conditions.ts";
import { DISRUPTED_TAINT } from "../model/labels.ts";
import type { Pod } from "../model/pod.ts";
import { doNotDisruptUntil } from "./do-not-disrupt.ts";
import { untolerated } from "./taints.ts";

/**
 * A pod this long past its grace period has a node that no longer responds
 * (karpenter: pkg/utils/pod/scheduling.go, IsStuckTerminating).
 */
const STUCK_AFTER_MS = 60_000;

function isOwnedBy(pod: Pod, apiVersion: string, kind: string): boolean {
  return (pod.metadata.ownerReferences ?? []).some((owner) => owner.kind === kind && owner.apiVersion === apiVersion);
}

/** "namespace/name", the name of a pod in plans and messages. */
export function podKey(pod: Pod): string {
  return `${pod.metadata.namespace ?? "default"}/${pod.metadata.name}`;
}

/** The API server's UID, or the name when a scenario gives no UID; nominations and records use it. */
export function podUid(pod: Pod): string {
  return pod.metadata.uid ?? podKey(pod);
}

/** A DaemonSet's pod: it runs on its node and is never rescheduled. */
export function isDaemonSetPod(pod: Pod): boolean {
  return isOwnedBy(pod, "apps/v1", "DaemonSet");
}

/** The mirror of a static pod: a v1 Node owns it, so the API cannot evict it. */
export function isMirror(pod: Pod): boolean {
  return isOwnedBy(pod, "v1", "Node");
}

/** The pod has run to its end. */
export function isTerminal(pod: Pod): boolean {
  return pod.status?.phase === "Failed" || pod.status?.phase === "Succeeded";
}

/** The pod's deletion was requested. */
export function isTerminating(pod: Pod): boolean {
  return Boolean(pod.metadata.deletionTimestamp);
}

/** The pod is neither finished nor being deleted. */
export function isActive(pod: Pod): boolean {
  return !isTerminal(pod) && !isTerminating(pod);
}

/**
 * Until when (ms) an active pod's do-not-disrupt annotation keeps its node from disruption; Infinity for ever,
 * undefined when it does not.
 */
export function holdsNodeUntil(pod: Pod, now: number): number | undefined {
  return isActive(pod) ? doNotDisruptUntil(pod, now) : undefined;
}

/** The pod is more than a minute past the end of its grace period. `now` in ms. */
function isStuck(pod: Pod, now: number): boolean {
  return isTerminating(pod) && now - fromRfc3339(pod.metadata.deletionTimestamp) > STUCK_AFTER_MS;
}

/** Such a pod stays on the node until the instance terminates, because it would be bound to the node again. */
export function toleratesDisrupted(pod: Pod): boolean {
  return untolerated([DISRUPTED_TAINT], pod.spec.tolerations ?? []) === undefined;
}

/** A drain evicts the pod (karpenter: pkg/utils/pod/scheduling.go, IsDrainable). `now` in ms. */
export function isDrainable(pod: Pod, now: number): boolean {
  return !toleratesDisrupted(pod) && !isStuck(pod, now) && !isMirror(pod);
}

/**
 * A drain is not finished while such a pod is on the node (karpenter: pkg/utils/pod/scheduling.go, IsWaitingEviction).
 * `now` in ms.
 */
export function isWaiting(pod: Pod, now: number): boolean {
  return !isTerminal(pod) && isDrainable(pod, now);
}

/** The pod may be evicted now. `now` in ms. */
export function isEvictable(pod: Pod, now: number): boolean {
  return isActive(pod) && !toleratesDisrupted(pod) && !isMirror(pod) && doNotDisruptUntil(pod, now) === undefined;
}

/**
 * The pod needs another node when its node is removed. A terminating pod of a StatefulSet counts, because it is created
 * again under its name (karpenter: pkg/utils/pod/scheduling.go, IsReschedulable).
 */
export function isReschedulable(pod: Pod): boolean {
  if (isDaemonSetPod(pod) || isMirror(pod)) return false;
  return isActive(pod) || (isTerminating(pod) && isOwnedBy(pod, "apps/v1", "StatefulSet"));
}

/**
 * A pod that kube-scheduler found unschedulable and that a new node may help, preemptions left aside
 * (karpenter: pkg/utils/pod/scheduling.go, IsProvisionable).
 */
export function isProvisionable(pod: Pod): boolean {
  return (
    isPending(pod) &&
    isActive(pod) &&
    (pod.status?.conditions ?? []).some(({ type, reason }) => type === "PodScheduled" && reason === "Unschedulable") &&
    !isDaemonSetPod(pod) &&
    !isMirror(pod)
  );
}

/** The pod is not bound to a node, so a disruption does not affect it. */
export function isPending(pod: Pod): boolean {
  return !pod.spec.nodeName;
}
