import { oncePer } from "../../lib/once-per.ts";
import { NODE_POOL } from "../../model/labels.ts";
import type { Pod } from "../../model/pod.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { isCurrentlyReschedulable } from "../../pods/disruption-budget.ts";
import { isProvisionable, isTerminating, podKey, podUid } from "../../pods/predicates.ts";
import { requirementProblem } from "../../requirements/validation.ts";
import { isEmptyTerm } from "../rules/preferences.ts";
import { volumesOf } from "../rules/volumes.ts";
import { nodeViews } from "./node-view.ts";

/** Which pods a run places, and which pending ones it ignores. */
export interface PendingPods {
  /** Sorted by "namespace/name". */
  readonly pods: readonly Pod[];
  /**
   * Virtual pods of CapacityBuffers, in the order of their buffers. They are placed last, because no user waits for
   * them.
   */
  readonly virtual: readonly Pod[];
  /** Pods that no NodePool can help, with the reason; the reason is empty for pods that decline NodePools. */
  readonly ignored: readonly { readonly pod: Pod; readonly reason: string }[];
}

/**
 * Pods to place: pods that kube-scheduler found unschedulable and that are not nominated to a NodeClaim, and
 * reschedulable pods of nodes that are marked for deletion
 * (karpenter: pkg/controllers/provisioning/provisioner.go, Provisioner.GetPendingPods).
 */
export const pendingPods: (snapshot: Snapshot) => PendingPods = oncePer((snapshot) => {
  const preempting = preemptions(snapshot);
  const views = nodeViews(snapshot);
  const deletingNodes = new Set(views.filter((view) => view.markedForDeletion).flatMap(({ node }) => (node ? [node.metadata.name] : [])));
  const volumes = volumesOf(snapshot);
  const pods: Pod[] = [];
  const ignored: { pod: Pod; reason: string }[] = [];
  for (const pod of snapshot.pods) {
    const nodeName = pod.spec.nodeName ?? "";
    if (nodeName === "") {
      if (!isProvisionable(pod) || preempting(pod)) continue;
      if (snapshot.nominated.has(podUid(pod)) || snapshot.displaced?.has(podUid(pod))) continue;
      const reason = isDeclined(pod) ? "" : (selectorProblem(pod) ?? volumes.problem(pod) ?? snapshot.refused?.get(podUid(pod)));
      if (reason === undefined) pods.push(pod);
      else ignored.push({ pod, reason });
    } else if (
      deletingNodes.has(nodeName) &&
      isCurrentlyReschedulable(pod, snapshot.podDisruptionBudgets, snapshot.now) &&
      !snapshot.nominated.has(podUid(pod))
    ) {
      const reason = snapshot.refused?.get(podUid(pod));
      if (reason === undefined) pods.push(pod);
      else ignored.push({ pod, reason });
    }
  }
  const byName = (a: Pod, b: Pod): number => (podKey(a) < podKey(b) ? -1 : 1);
  const virtual = (snapshot.virtualPods ?? []).filter((pod) => !snapshot.nominated.has(podUid(pod)) && !snapshot.refused?.has(podUid(pod)));
  return { pods: pods.sort(byName), virtual, ignored: ignored.sort((a, b) => byName(a.pod, b.pod)) };
});

/**
 * Whether kube-scheduler makes room for a pod by a preemption: it has nominated a node for the pod. The nominated node
 * of a pod that we have planned for may be our own hint; then it is a preemption only while pods of that node end.
 */
function preemptions({ pods, plannedFor }: Snapshot): (pod: Pod) => boolean {
  const ending = new Set(pods.flatMap((pod) => (isTerminating(pod) ? [pod.spec.nodeName ?? ""] : [])));
  return (pod) => {
    const node = pod.status?.nominatedNodeName ?? "";
    return node !== "" && (plannedFor?.has(podUid(pod)) !== true || ending.has(node));
  };
}

/**
 * Whether a pod declines NodePools: every OR-ed required term has "karpenter.sh/nodepool DoesNotExist". A term without
 * it allows NodePools. Karpenter reads the first term alone
 * (karpenter: pkg/scheduling/requirements.go, NewPodRequirements).
 */
function isDeclined(pod: Pod): boolean {
  const terms = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const declines = ({ matchExpressions }: (typeof terms)[number]): boolean =>
    (matchExpressions ?? []).some(({ key, operator }) => key === NODE_POOL && operator === "DoesNotExist");
  return terms.length > 0 && terms.every(declines);
}

function selectorProblem({ spec }: Pod): string | undefined {
  for (const [key, value] of Object.entries(spec.nodeSelector ?? {})) {
    const problem = requirementProblem({ key, operator: "In", values: [value] });
    if (problem !== undefined) return `nodeSelector: ${problem}`;
  }
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  if (terms.length > 0 && terms.every(isEmptyTerm)) return "required node affinity has empty terms alone, which no node meets";
  for (const term of terms) {
    if ((term.matchFields ?? []).length > 0)
      return "required node affinity uses matchFields, which a node that does not exist yet cannot satisfy";
    for (const item of term.matchExpressions ?? []) {
      const problem = requirementProblem(item);
      if (problem !== undefined) return `required node affinity: ${problem}`;
    }
  }
  return undefined;
}
