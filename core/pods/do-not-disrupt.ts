import { parseDuration } from "../lib/duration.ts";
import { fromRfc3339 } from "../model/conditions.ts";
import { DO_NOT_DISRUPT } from "../model/labels.ts";
import type { Pod } from "../model/pod.ts";

/**
 * Until when (ms) the pod's annotation forbids its disruption: Infinity for "true", the pod's start plus the duration
 * for a positive Go duration; undefined when the annotation is absent, invalid or expired. The duration of a pod that
 * has not started counts from `now`.
 */
export function doNotDisruptUntil(pod: Pod, now: number): number | undefined {
  const value = pod.metadata.annotations?.[DO_NOT_DISRUPT];
  if (value === undefined) return undefined;
  if (value === "true") return Number.POSITIVE_INFINITY;
  const until = gracePeriodEnd(pod, pod.status?.startTime ? fromRfc3339(pod.status.startTime) : now);
  return until !== undefined && until > now ? until : undefined;
}

/**
 * When (ms) the duration of the pod's annotation is over, of a pod that has started; undefined for all other pods. A
 * time in the past is a protection that has ended.
 */
export function doNotDisruptEnd(pod: Pod): number | undefined {
  return pod.status?.startTime ? gracePeriodEnd(pod, fromRfc3339(pod.status.startTime)) : undefined;
}

function gracePeriodEnd(pod: Pod, start: number): number | undefined {
  const duration = parseDuration(pod.metadata.annotations?.[DO_NOT_DISRUPT] ?? "");
  return duration === undefined || duration <= 0 || Number.isNaN(start) ? undefined : start + duration;
}

/**
 * What is wrong with the pod's annotation, which then protects nothing; undefined for an absent or valid annotation.
 */
export function doNotDisruptProblem({ metadata }: Pod): string | undefined {
  const value = metadata.annotations?.[DO_NOT_DISRUPT];
  if (value === undefined || value === "true") return undefined;
  const duration = parseDuration(value);
  return duration !== undefined && duration > 0 ? undefined : `"${value}" is neither "true" nor a duration such as "30m"`;
}
