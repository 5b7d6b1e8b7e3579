import type { Pod } from "../model/pod.ts";
import type { PodDisruptionBudget } from "../model/workloads.ts";
import { doNotDisruptUntil } from "./do-not-disrupt.ts";
import { selects } from "./label-selector.ts";
import { isEvictable, isReschedulable } from "./predicates.ts";

/**
 * The PodDisruptionBudgets that block a pod's eviction, as "namespace/name". With two or more ("multiple"), the API
 * refuses every eviction.
 */
interface PdbBlock {
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
  return blockOf(pod, pdbs, isSpent);
}

function blockOf(pod: Pod, pdbs: readonly PodDisruptionBudget[], blocks: (pdb: PodDisruptionBudget) => boolean): PdbBlock | undefined {
  const found = matching(pod, pdbs);
  if (found.length > 1) return { kind: "multiple", budgets: found.map(budgetKey) };
  const [pdb] = found;
  if (!pdb || isUnhealthyAndFree(pod, pdb) || !blocks(pdb)) return undefined;
  return { kind: "spent", budgets: [budgetKey(pdb)] };
}

/** Whether the pod is not ready, and the budget lets such pods go whatever it allows. */
function isUnhealthyAndFree({ status }: Pod, { spec }: PodDisruptionBudget): boolean {
  const ready = (status?.conditions ?? []).find(({ type }) => type === "Ready");
  return spec.unhealthyPodEvictionPolicy === "AlwaysAllow" && ready?.status === "False";
}

function isSpent({ status }: PodDisruptionBudget): boolean {
  return (status?.disruptionsAllowed ?? 0) === 0;
}

/** Whether the budget can never allow an eviction, whatever its status says now. */
function blocksForever({ spec }: PodDisruptionBudget): boolean {
  return spec.maxUnavailable === 0 || spec.maxUnavailable === "0" || spec.maxUnavailable === "0%" || spec.minAvailable === "100%";
}

/**
 * Whether a bound pod will really leave its node in a drain, so that it needs room elsewhere. Budgets hold only pods
 * that a drain evicts (karpenter: pkg/utils/pdb/pdb.go, Limits.IsCurrentlyReschedulable). `now` in ms.
 */
export function isCurrentlyReschedulable(pod: Pod, pdbs: readonly PodDisruptionBudget[], now: number): boolean {
  if (!isReschedulable(pod) || doNotDisruptUntil(pod, now) !== undefined) return false;
  return !isEvictable(pod, now) || blockOf(pod, pdbs, blocksForever) === undefined;
}
