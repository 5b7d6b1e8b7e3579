import type { Node } from "#core/model/node.ts";
import type { Pod } from "#core/model/pod.ts";
import { type Amounts, add, podRequests, toAmounts } from "../quantity.ts";
import { hostPorts } from "./placement.ts";

/** A node with its pods, as one scheduling pass counts them. */
export interface Room {
  readonly node: Node;
  readonly pods: readonly Pod[];
  readonly allocatable: Amounts;
  /** The sum of the requests of the pods. */
  readonly used: Amounts;
  /** The same sum, with the requests that only scoring assumes (see `scoredRequests`). */
  readonly scored: Amounts;
  readonly ports: readonly { readonly ip: string; readonly key: string }[];
}

export function roomWith(node: Node, pods: readonly Pod[]): Room {
  const used: Amounts = new Map();
  const scored: Amounts = new Map();
  for (const pod of pods) {
    add(used, podRequests(pod));
    add(scored, scoredRequests(pod));
  }
  return { node, pods, allocatable: toAmounts(node.status?.allocatable), used, scored, ports: pods.flatMap(hostPorts) };
}

/** The room with one more pod. */
export function withPod(room: Room, pod: Pod): Room {
  const [used, scored] = [new Map(room.used), new Map(room.scored)];
  add(used, podRequests(pod));
  add(scored, scoredRequests(pod));
  return { ...room, pods: [...room.pods, pod], used, scored, ports: [...room.ports, ...hostPorts(pod)] };
}

/** Every pass asks again for the pods of all nodes, and the store's objects never change. */
const scoredByPod = new WeakMap<Pod, Amounts>();

/**
 * The requests of a pod as the scoring of free resources assumes them: a container that requests no cpu counts with
 * 100m, and a container that requests no memory counts with 200Mi (kubernetes: pkg/scheduler/util/pod_resources.go,
 * DefaultMemoryRequest).
 */
export function scoredRequests(pod: Pod): Amounts {
  const found = scoredByPod.get(pod);
  if (found) return found;
  const requests = podRequests(pod, { cpu: "100m", memory: "200Mi" });
  scoredByPod.set(pod, requests);
  return requests;
}
