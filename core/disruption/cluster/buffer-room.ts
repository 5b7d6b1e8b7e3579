import type { Snapshot } from "../../model/snapshot.ts";
import { podKey } from "../../pods/predicates.ts";
import type { Simulate } from "./simulation.ts";

/** How much of the capacity of CapacityBuffers exists, and on which nodes. */
export interface BufferRoom {
  /** Node name (NodeView) to how many virtual pods of CapacityBuffers fit there. */
  readonly byNode: ReadonlyMap<string, number>;
  /**
   * The snapshot for simulations of removals, with only those virtual pods that have room now: a removal must keep that
   * room, and it takes nothing from virtual pods that have none.
   */
  readonly snapshot: Snapshot;
  /** Some virtual pods have no room, and a new node would give it. */
  readonly isShort: boolean;
}

/**
 * Simulates where the virtual pods of CapacityBuffers would be scheduled. No earlier run is remembered, because pods
 * come and go and the room is wherever it is now. Pending pods are placed first, so virtual pods take no room from
 * them.
 */
export function bufferRoom(snapshot: Snapshot, simulate: Simulate | undefined): BufferRoom {
  const { virtualPods = [] } = snapshot;
  if (simulate === undefined || virtualPods.length === 0) return { byNode: new Map(), snapshot, isShort: false };
  const plan = simulate(snapshot, { excludeNodes: new Set(), extraPods: [], reservedMode: "fallback", settling: new Set() });
  const virtual = new Set(virtualPods.map(podKey));
  const virtualByNode = plan.existingNodes.map(({ name, pods }) => [name, pods.filter((pod) => virtual.has(pod))] as const);
  const placed = new Set(virtualByNode.flatMap(([, pods]) => pods));
  return {
    byNode: new Map(virtualByNode.flatMap(([name, pods]) => (pods.length > 0 ? [[name, pods.length] as const] : []))),
    snapshot: { ...snapshot, virtualPods: virtualPods.filter((pod) => placed.has(podKey(pod))) },
    isShort: plan.newNodeClaims.some(({ pods }) => pods.some((pod) => virtual.has(pod))),
  };
}
