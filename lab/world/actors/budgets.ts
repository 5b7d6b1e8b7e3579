import type { LabelSelector } from "#core/model/kubernetes.ts";
import type { Pod } from "#core/model/pod.ts";
import type { PodDisruptionBudget } from "#core/model/workloads.ts";
import { same } from "#manifests/api-object.ts";
import { matchesSelector } from "#manifests/selectors.ts";
import type { MutableObject } from "../store.ts";
import type { LabWorld } from "../world.ts";
import { debounced, isActive, isReady, isTerminal, podsOf } from "./actor.ts";

/** The disruption controller: keeps each PodDisruptionBudget's status. */
export function startBudgets(world: LabWorld): void {
  const sync = debounced(world, "disruption controller", 50, () => {
    const budgets = world.store.list("PodDisruptionBudget") as unknown as readonly PodDisruptionBudget[];
    for (const budget of budgets) settle(world, budget);
  });
  world.onChange(({ kind, subresource }) => {
    if (kind === "Pod" || kind === "ReplicaSet" || (kind === "PodDisruptionBudget" && subresource !== "status")) sync();
  });
}

function settle(world: LabWorld, budget: PodDisruptionBudget): void {
  const { name, namespace, generation } = budget.metadata;
  const pods = podsOf(world).filter(
    (p) =>
      p.metadata.namespace === namespace && !isTerminal(p) && matchesSelector(budget.spec.selector as LabelSelector, p.metadata.labels),
  );
  const { minAvailable, maxUnavailable } = budget.spec;
  // A budget that says nothing allows nothing.
  const isEmpty = maxUnavailable === undefined && minAvailable === undefined;
  const isScaled = maxUnavailable !== undefined || typeof minAvailable === "string";
  const expected = isEmpty ? 0 : isScaled ? expectedPods(world, pods) : pods.length;
  const desired =
    maxUnavailable === undefined ? scaled(minAvailable ?? 0, expected) : Math.max(0, expected - scaled(maxUnavailable, expected));
  const healthy = pods.filter((p) => isReady(p) && isActive(p)).length;
  const status = {
    observedGeneration: generation,
    expectedPods: expected,
    desiredHealthy: desired,
    currentHealthy: healthy,
    disruptionsAllowed: expected > 0 ? Math.max(0, healthy - desired) : 0,
  };
  world.store.patch(
    "PodDisruptionBudget",
    name,
    namespace,
    { user: "system:serviceaccount:kube-system:disruption-controller", subresource: "status" },
    (o: MutableObject) => (same(o.status, status) ? undefined : { ...o, status }),
  );
}

/** How many pods their controllers should keep; each controller counts once. */
function expectedPods(world: LabWorld, pods: readonly Pod[]): number {
  const owners = new Set(pods.flatMap((p) => p.metadata.ownerReferences?.find((o) => o.controller)?.uid ?? []));
  const lone = pods.filter((p) => !p.metadata.ownerReferences?.some((o) => o.controller)).length;
  let sum = lone;
  for (const uid of owners) sum += Number((world.store.byUid(uid)?.spec as { replicas?: number } | undefined)?.replicas ?? 0);
  return sum;
}

/** A number, or a percentage rounded up. */
function scaled(value: number | string, of: number): number {
  return typeof value === "string" && value.endsWith("%") ? Math.ceil((Number.parseFloat(value) / 100) * of) : Number(value);
}
