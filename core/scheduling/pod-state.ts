import type { Condition } from "../model/kubernetes.ts";
import { DO_NOT_DISRUPT } from "../model/labels.ts";
import type { Pod } from "../model/pod.ts";
import type { PodDisruptionBudget } from "../model/workloads.ts";
import { selects } from "./label-selector.ts";

/** "namespace/name": what plans and messages call a pod. */
export function podName(pod: Pod): string {
  return `${pod.metadata.namespace ?? "default"}/${pod.metadata.name}`;
}

export function podUid(pod: Pod): string {
  return pod.metadata.uid ?? podName(pod);
}

export function isTerminal(pod: Pod): boolean {
  return pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
}

export function isTerminating(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined && pod.metadata.deletionTimestamp !== null;
}

function isOwnedBy(pod: Pod, kind: string, apiVersion: string): boolean {
  return (pod.metadata.ownerReferences ?? []).some((owner) => owner.kind === kind && owner.apiVersion === apiVersion);
}

export function isDaemonSetPod(pod: Pod): boolean {
  return isOwnedBy(pod, "DaemonSet", "apps/v1");
}

/** A static pod, mirrored by its kubelet. */
export function isMirrorPod(pod: Pod): boolean {
  return isOwnedBy(pod, "Node", "v1");
}

function conditions(pod: Pod): readonly Condition[] {
  return pod.status?.conditions ?? [];
}

/** A pod that kube-scheduler gave up on, and that a new node could help (scheduling.md §2). */
export function isProvisionable(pod: Pod): boolean {
  return (
    (pod.spec.nodeName ?? "") === "" &&
    (pod.status?.nominatedNodeName ?? "") === "" &&
    !isTerminal(pod) &&
    !isTerminating(pod) &&
    conditions(pod).some(({ type, reason }) => type === "PodScheduled" && reason === "Unschedulable") &&
    !isDaemonSetPod(pod) &&
    !isMirrorPod(pod)
  );
}

/** Active, or a StatefulSet's pod that is going and will come back under its name. */
export function isReschedulable(pod: Pod): boolean {
  if (isTerminal(pod) || isDaemonSetPod(pod) || isMirrorPod(pod)) return false;
  return !isTerminating(pod) || isOwnedBy(pod, "StatefulSet", "apps/v1");
}

const GO_DURATION = /(\d+(?:\.\d+)?)(h|ms|m|s)/g;
const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** Whether `karpenter.sh/do-not-disrupt` holds now: "true", or a Go duration counted from the pod's start. */
export function hasActiveDoNotDisrupt(pod: Pod, nowMs: number): boolean {
  const value = pod.metadata.annotations?.[DO_NOT_DISRUPT];
  if (value === undefined) return false;
  if (value === "true") return true;
  if (!/^(\d+(\.\d+)?(h|ms|m|s))+$/.test(value)) return false;
  let durationMs = 0;
  for (const [, number, unit] of value.matchAll(GO_DURATION)) durationMs += Number(number) * (UNIT_MS[unit ?? ""] ?? 0);
  if (durationMs <= 0) return false;
  const start = pod.status?.startTime;
  return start === undefined || start === null || nowMs < Date.parse(start) + durationMs;
}

/** Whether budgets can never let the pod go: one allows no disruption at all, or more than one covers it. */
export function isFullyBlocked(pod: Pod, budgets: readonly PodDisruptionBudget[]): boolean {
  const covering = budgets.filter(
    (budget) =>
      (budget.metadata.namespace ?? "default") === (pod.metadata.namespace ?? "default") &&
      selects(budget.spec.selector, pod.metadata.labels),
  );
  if (covering.length > 1) return true;
  return covering.some(({ spec }) => {
    const most = spec.maxUnavailable;
    return most === 0 || most === "0" || most === "0%" || spec.minAvailable === "100%";
  });
}
