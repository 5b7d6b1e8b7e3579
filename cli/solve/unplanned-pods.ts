import { ownValue } from "#core/lib/own-value.ts";
import type { Plan } from "#core/model/plan.ts";
import type { Pod } from "#core/model/pod.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { isCurrentlyReschedulable, pdbBlocking } from "#core/pods/disruption-budget.ts";
import { doNotDisruptUntil } from "#core/pods/do-not-disrupt.ts";
import { isReschedulable, podKey } from "#core/pods/predicates.ts";
import { nodeViews } from "#core/scheduling/problem/node-view.ts";
import { counted, listed } from "#core/scheduling/reasons/words.ts";
import { pendingPods } from "#core/scheduling/solve.ts";

/** Pods that are not in the plan although they wait or their node is being removed; a line for each reason. */
export function podsLeftAlone({ podErrors }: Plan, snapshot: Snapshot): readonly string[] {
  const { pods, ignored } = pendingPods(snapshot);
  const spokenOf = new Set([...pods, ...ignored.map(({ pod }) => pod)]);
  const unbound = snapshot.pods.filter((pod) => !spokenOf.has(pod) && (pod.spec.nodeName ?? "") === "");
  const declining = ignored.filter(({ pod }) => ownValue(podErrors, podKey(pod)) === undefined).map(({ pod }) => pod);
  const isNominated = ({ metadata }: Pod): boolean => snapshot.nominated.has(metadata.uid ?? "");
  const idle = unbound.filter((pod) => !isNominated(pod));
  return [
    ...line("asking not to run on nodes of a NodePool", declining),
    ...line("for which a node is on its way", unbound.filter(isNominated)),
    ...line("not given up by kube-scheduler (no condition PodScheduled, status False, reason Unschedulable)", idle),
    ...heldBack(snapshot),
  ];
}

function line(what: string, pods: readonly Pod[]): readonly string[] {
  return pods.length === 0 ? [] : [`${counted(pods.length, "pod")} ${what}: ${listed(pods.map(podKey), 3)}`];
}

/** Pods that block the drain of their node. */
function heldBack(snapshot: Snapshot): readonly string[] {
  const { podDisruptionBudgets: budgets, now } = snapshot;
  const going = new Set(
    nodeViews(snapshot).flatMap(({ markedForDeletion, node }) => (markedForDeletion && node ? [node.metadata.name] : [])),
  );
  const held = snapshot.pods.filter(
    (pod) => going.has(pod.spec.nodeName ?? "") && isReschedulable(pod) && !isCurrentlyReschedulable(pod, budgets, now),
  );
  return held.map((pod) => {
    const by =
      doNotDisruptUntil(pod, now) === undefined
        ? `PodDisruptionBudget ${listed(pdbBlocking(pod, budgets)?.budgets ?? [])}, which never lets it go`
        : "its annotation karpenter.sh/do-not-disrupt";
    return `${podKey(pod)} stays on ${pod.spec.nodeName}, a node that goes: held by ${by}`;
  });
}
