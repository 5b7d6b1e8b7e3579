import { fromRfc3339 } from "../model/conditions.ts";
import { DISRUPTED_TAINT } from "../model/labels.ts";
import type { Pod } from "../model/pod.ts";
import { doNotDisruptUntil } from "./do-not-disrupt.ts";
import { untolerated } from "./taints.ts";

/** Past the end of its grace period by this much, a pod's node no longer answers for it. */
const STUCK_AFTER_MS = 60_000;

function isOwnedBy(pod: Pod, apiVersion: string, kind: string): boolean {
  return (pod.metadata.ownerReferences ?? []).some((owner) => owner.kind === kind && owner.apiVersion === apiVersion);
}

/** "namespace/name", as plans and messages name a pod. */
export function podKey(pod: Pod): string {
  return `${pod.metadata.namespace ?? "default"}/${pod.metadata.name}`;
}

/** The API server's UID, or the name where a scenario gives none: what nominations and records call a pod. */
export function podUid(pod: Pod): string {
  return pod.metadata.uid ?? podKey(pod);
}

/** Made by a DaemonSet: it runs where its node is and is never moved. */
export function isDaemonSetPod(pod: Pod): boolean {
  return isOwnedBy(pod, "apps/v1", "DaemonSet");
}

/** A static pod's mirror: owned by a v1 Node, so the API cannot evict it. */
export function isMirror(pod: Pod): boolean {
  return isOwnedBy(pod, "v1", "Node");
}

/** Has run to its end. */
export function isTerminal(pod: Pod): boolean {
  return pod.status?.phase === "Failed" || pod.status?.phase === "Succeeded";
}

/** Has been asked to go. */
export function isTerminating(pod: Pod): boolean {
  return Boolean(pod.metadata.deletionTimestamp);
}

/** Neither finished nor asked to go. */
export function isActive(pod: Pod): boolean {
  return !isTerminal(pod) && !isTerminating(pod);
}

/** Until when (ms) an active pod's do-not-disrupt annotation holds its node; Infinity for ever, undefined when it does not. */
export function holdsNodeUntil(pod: Pod, now: number): number | undefined {
  return isActive(pod) ? doNotDisruptUntil(pod, now) : undefined;
}

/** More than a minute past the time by which it should have gone. `now` in ms. */
export function isStuck(pod: Pod, now: number): boolean {
  return isTerminating(pod) && now - fromRfc3339(pod.metadata.deletionTimestamp) > STUCK_AFTER_MS;
}

/** Such a pod stays on the node until the machine goes: draining would only see it come back. */
export function toleratesDisrupted(pod: Pod): boolean {
  return untolerated([DISRUPTED_TAINT], pod.spec.tolerations ?? []) === undefined;
}

/** A drain has to do with it (nodeclaim-lifecycle.md §12). `now` in ms. */
export function isDrainable(pod: Pod, now: number): boolean {
  return !toleratesDisrupted(pod) && !isStuck(pod, now) && !isMirror(pod);
}

/** A drain is not over while one of these is on the node. `now` in ms. */
export function isWaiting(pod: Pod, now: number): boolean {
  return !isTerminal(pod) && isDrainable(pod, now);
}

/** An eviction may be asked for now. `now` in ms. */
export function isEvictable(pod: Pod, now: number): boolean {
  return isActive(pod) && !toleratesDisrupted(pod) && !isMirror(pod) && doNotDisruptUntil(pod, now) === undefined;
}

/** Needs a place elsewhere when its node goes. A StatefulSet's pod that is going counts: it comes back under its own name. */
export function isReschedulable(pod: Pod): boolean {
  if (isDaemonSetPod(pod) || isMirror(pod)) return false;
  return isActive(pod) || (isTerminating(pod) && isOwnedBy(pod, "apps/v1", "StatefulSet"));
}

/** A pod that kube-scheduler gave up on and that a new node could help (scheduling.md §2). */
export function isProvisionable(pod: Pod): boolean {
  return (
    isPending(pod) &&
    !pod.status?.nominatedNodeName &&
    isActive(pod) &&
    (pod.status?.conditions ?? []).some(({ type, reason }) => type === "PodScheduled" && reason === "Unschedulable") &&
    !isDaemonSetPod(pod) &&
    !isMirror(pod)
  );
}

/** Not bound to a node: it waits already, so a disruption does not make it worse off. */
export function isPending(pod: Pod): boolean {
  return !pod.spec.nodeName;
}
