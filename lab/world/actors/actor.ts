// The controllers and kubelets of the simulated cluster, one in each file, as startX(world).
// In: changes of objects (world.onChange) and time. Out: writes to the object store, as the real controllers make them.
// An actor knows the world and, of other actors, only the kubelets: no handler of the product, no decision of core.

import type { Condition } from "#core/model/kubernetes.ts";
import type { Node } from "#core/model/node.ts";
import type { Pod } from "#core/model/pod.ts";
import { timestamp } from "#manifests/api-object.ts";
import type { MutableObject } from "../store.ts";
import type { LabWorld } from "../world.ts";

/** Returns a function that schedules a run of `fn` after `delayMs`. Calls before that run join it. */
export function debounced(world: LabWorld, label: string, delayMs: number, fn: () => void): () => void {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    world.clock.after(delayMs, label, () => {
      waiting = false;
      fn();
    });
  };
}

export const podsOf = (world: LabWorld): readonly Pod[] => world.store.list("Pod") as unknown as readonly Pod[];
export const nodesOf = (world: LabWorld): readonly Node[] => world.store.list("Node") as unknown as readonly Node[];

export const isTerminal = (pod: Pod): boolean => pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
export const isTerminating = (pod: Pod): boolean => pod.metadata.deletionTimestamp !== undefined;
export const isActive = (pod: Pod): boolean => !isTerminal(pod) && !isTerminating(pod);
export const isReady = (object: { readonly status?: { readonly conditions?: readonly Condition[] } | undefined }): boolean =>
  object.status?.conditions?.some((c) => c.type === "Ready" && c.status === "True") ?? false;

/** The conditions with one of them set. Its transition time changes only with its status. */
export function withCondition(
  conditions: readonly Condition[] | undefined,
  condition: Omit<Condition, "lastTransitionTime">,
  now: number,
): readonly Condition[] {
  const old = conditions?.find((c) => c.type === condition.type);
  const lastTransitionTime = old?.status === condition.status ? (old.lastTransitionTime ?? timestamp(now)) : timestamp(now);
  const set = { ...condition, lastTransitionTime };
  return old ? (conditions ?? []).map((c) => (c === old ? set : c)) : [...(conditions ?? []), set];
}

/** Writes why the control plane removes a pod: its condition DisruptionTarget. */
export function markDisrupted(world: LabWorld, pod: Pod, user: string, reason: string, message: string): void {
  const { name, namespace } = pod.metadata;
  world.store.patch("Pod", name, namespace, { user, subresource: "status" }, (o: MutableObject) => {
    const condition = { type: "DisruptionTarget", status: "True", reason, message } as const;
    o.status = { ...o.status, conditions: withCondition(o.status?.conditions, condition, world.clock.now()) };
    return o;
  });
}
