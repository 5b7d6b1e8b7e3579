import type { Taint, Toleration } from "../model/taint.ts";

/** Covers what only prefers: kube-scheduler never keeps a pod off for that. */
export const TOLERATE_SOFT: Toleration = { operator: "Exists", effect: "PreferNoSchedule" };

/** Whether a toleration covers a taint (Kubernetes' rule; Gt and Lt compare integers). */
export function toleratesTaint(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect !== undefined && toleration.effect !== "" && toleration.effect !== taint.effect) return false;
  if (toleration.key !== undefined && toleration.key !== "" && toleration.key !== taint.key) return false;
  const value = taint.value ?? "";
  switch (toleration.operator ?? "Equal") {
    case "Exists":
      return true;
    case "Gt":
      return Number(value) > Number(toleration.value);
    case "Lt":
      return Number(value) < Number(toleration.value);
    default:
      return toleration.key !== undefined && toleration.key !== "" && value === (toleration.value ?? "");
  }
}

/** First taint that nothing tolerates. PreferNoSchedule counts until a pod is relaxed to tolerate it (scheduling.md §7). */
export function untolerated(taints: readonly Taint[], tolerations: readonly Toleration[]): Taint | undefined {
  return taints.find((taint) => !tolerations.some((toleration) => toleratesTaint(toleration, taint)));
}

/** "key=value:effect", as kubectl taint takes it. */
export function describeTaint({ key, value, effect }: Taint): string {
  return `${key}${value === undefined || value === "" ? "" : `=${value}`}:${effect}`;
}
