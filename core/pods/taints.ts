import type { Taint, Toleration } from "../model/taint.ts";

/** Tolerates every PreferNoSchedule taint: kube-scheduler never keeps a pod off a node for one. */
export const TOLERATE_SOFT: Toleration = { operator: "Exists", effect: "PreferNoSchedule" };

/** Whether a toleration matches a taint (Kubernetes' rule; Gt and Lt compare integers). */
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

/**
 * The first taint without a matching toleration. PreferNoSchedule counts until a pod is relaxed to tolerate it
 * (karpenter: pkg/scheduling/taints.go, Taints.Tolerates).
 */
export function untolerated(taints: readonly Taint[], tolerations: readonly Toleration[]): Taint | undefined {
  return taints.find((taint) => !tolerations.some((toleration) => toleratesTaint(toleration, taint)));
}

/** "key=value:effect", as `kubectl taint` takes it. */
export function describeTaint({ key, value, effect }: Taint): string {
  return `${key}${value === undefined || value === "" ? "" : `=${value}`}:${effect}`;
}
