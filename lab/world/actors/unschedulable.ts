import type { Pod } from "../../../core/model/pod.ts";
import { priorityOf, without } from "./preemption.ts";
import type { Room } from "./rooms.ts";

/** Why a node cannot have a pod, and the message of the condition that kube-scheduler writes then. */
export interface Refusal {
  readonly reasons: readonly string[];
  /** Whether the node refuses the pod however many pods leave it (UnschedulableAndUnresolvable in kube-scheduler). */
  readonly isFinal: boolean;
}

/** Reasons beside missing resources that can pass when pods leave the node. */
const PASSING: ReadonlySet<string> = new Set([
  "node(s) didn't have free ports for the requested pod ports",
  "node(s) didn't match pod topology spread constraints",
  "node(s) didn't match pod anti-affinity rules",
  "node(s) didn't satisfy existing pods anti-affinity rules",
]);

export const refusal = (reason: string): Refusal => ({ reasons: [reason], isFinal: !PASSING.has(reason) });

/**
 * "0/2 nodes are available: 1 Insufficient cpu, 1 Too many pods." `before` is what no node can change, which hides the
 * reasons of the nodes (kubernetes: pkg/scheduler/framework/types.go, FitError.Error).
 */
export function fitError(nodes: number, refusals: Iterable<Refusal>, before?: string): string {
  const counts = new Map<string, number>();
  for (const { reasons } of refusals) for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const parts = [...counts].map(([reason, count]) => `${count} ${reason}`).sort();
  return `0/${nodes} nodes are available: ${before ?? parts.join(", ")}.`;
}

/**
 * Why no node can have the pod even without its pods of lower priority
 * (kubernetes: pkg/scheduler/framework/preemption/preemption.go, Evaluator.Preempt).
 */
export function noCandidates(pod: Pod, refused: ReadonlyMap<Room, Refusal>, filter: (room: Room) => Refusal | undefined): string {
  const isLower = (other: Pod): boolean => priorityOf(other) < priorityOf(pod);
  const afterwards = [...refused].map(([room, { isFinal }]): Refusal => {
    if (isFinal) return refusal("Preemption is not helpful for scheduling");
    if (!room.pods.some(isLower)) return refusal("No preemption victims found for incoming pod");
    return filter(without(room, isLower)) ?? { reasons: [], isFinal: false };
  });
  return fitError(refused.size, afterwards);
}
