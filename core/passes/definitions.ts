import type { KubernetesObject } from "../model/kubernetes.ts";
import { LAUNCH_BACKOFF, MAX_PRICE_PER_HOUR, SCHEDULE } from "../model/labels.ts";
import type { Plan } from "../model/plan.ts";

/**
 * How old the definitions may be that a pass uses whose decision another pass confirms, ms: a decision may take as
 * long from its reading to its last write anyway.
 */
export const CONFIRMED_AGE_MS = 10_000;

/**
 * The same for a plan, ms. A plan that finds places for all pods uses them: nodes of the last plan come within a
 * minute. A plan that buys compares them with what they are now, and so does one that finds no place for a pod by
 * definitions that are older than CONFIRMED_AGE_MS.
 */
export const PLANNED_AGE_MS = 60_000;

/** Since when the definitions of a plan must have been read, ms since the epoch. */
export function oldestDefinitions({ newNodeClaims, podErrors }: Pick<Plan, "newNodeClaims" | "podErrors">, began: number): number {
  if (newNodeClaims.length > 0) return began;
  // Pods that fit nowhere are planned for again and again: definitions of the last seconds do for them.
  return Object.keys(podErrors).length > 0 ? began - CONFIRMED_AGE_MS : 0;
}

/** Which objects a list has, in which generation of their specs, and with which annotations that decide. */
export function generations(items: readonly KubernetesObject[]): string {
  const generation = ({ metadata }: KubernetesObject) => [
    ...[metadata.uid, metadata.name, metadata.generation, metadata.deletionTimestamp],
    ...[metadata.annotations?.[MAX_PRICE_PER_HOUR], metadata.annotations?.[SCHEDULE], metadata.annotations?.[LAUNCH_BACKOFF]],
  ];
  return JSON.stringify(items.map((item) => JSON.stringify(generation(item))).sort());
}
