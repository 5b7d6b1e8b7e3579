import type { Pod } from "../model/pod.ts";
import type { PodDisruptionBudget } from "../model/workloads.ts";
import { doNotDisruptUntil } from "./do-not-disrupt.ts";
import { selects } from "./label-selector.ts";
import { isReschedulable } from "./predicates.ts";

/**
 * The PodDisruptionBudgets that block a pod's eviction, as "namespace/name". With two or more ("multiple"), the API
 * refuses every eviction.
 */
export interface PdbBlock {
  readonly kind: "spent" | "multiple";
  readonly budgets: readonly string[];
}

function matching(pod: Pod, pdbs: readonly PodDisruptionBudget[]): readonly PodDisruptionBudget[] {
  const namespace = pod.metadata.namespace ?? "default";
  return pdbs.filter((pdb) => (pdb.metadata.namespace ?? "default") === namespace && selects(pdb.spec.selector, pod.metadata.labels));
}

function budgetKey(pdb: PodDisruptionBudget): string {
  return `${pdb.metadata.namespace ?? "default"}/${pdb.metadata.name}`;
}

/**
 * Why the API would refuse an eviction of the pod now; undefined when it would not
 * (karpenter: pkg/utils/pdb/pdb.go, Limits.CanEvictPods).
 */
export function pdbBlocking(pod: Pod, pdbs: readonly PodDisruptionBudget[]): PdbBlock | undefined {
  const found = matching(pod, pdbs);
  if (found.length > 1) return { kind: "multiple", budgets: found.map(budgetKey) };
  const pdb = found[0];
  if (!pdb) return undefined;
  const ready = (pod.status?.conditions ?? []).find(({ type }) => type === "Ready");
  if (pdb.spec.unhealthyPodEvictionPolicy === "AlwaysAllow" && ready?.status === "False") return undefined;
  return (pdb.status?.disruptionsAllowed ?? 0) === 0 ? { kind: "spent", budgets: [budgetKey(pdb)] } : undefined;
}

/** Whether the budget can never allow an eviction, whatever its status says now. */
function blocksForever({ spec }: PodDisruptionBudget): boolean {
  return spec.maxUnavailable === 0 || spec.maxUnavailable === "0" || spec.maxUnavailable === "0%" || spec.minAvailable === "100%";
}

/**
 * Whether a bound pod will really leave its node in a drain, so that it needs room elsewhere
 * (karpenter: pkg/utils/pod/scheduling.go, IsReschedulable). `now` in ms.
 */
export function isCurrentlyReschedulable(pod: Pod, pdbs: readonly PodDisruptionBudget[], now: number): boolean {
  if (!isReschedulable(pod) || doNotDisruptUntil(pod, now) !== undefined) return false;
  const found = matching(pod, pdbs);
  return found.length === 0 || (found.length === 1 && !found.some(blocksForever));
}
