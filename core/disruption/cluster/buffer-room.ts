import type { Snapshot } from "../../model/snapshot.ts";
import { podKey } from "../../pods/predicates.ts";
import type { Simulate } from "./simulation.ts";

/** Which of the room that CapacityBuffers want is there, and where. */
export interface BufferRoom {
  /** Name of a node (NodeView) to how many virtual pods it has room for. */
  readonly byNode: ReadonlyMap<string, number>;
  /** The snapshot to try removals on: with those virtual pods alone that have room now. A removal must leave them room; the others it cannot harm. */
  readonly snapshot: Snapshot;
  /** Some room is missing and can be bought. */
  readonly isShort: boolean;
}

/**
 * Looks where virtual pods would lie if they existed. Nothing is remembered of earlier runs: pods come and go, and room is wherever there is some
 * now. Real pods are placed first, so what waits for a node is not in the way.
 */
export function bufferRoom(snapshot: Snapshot, simulate: Simulate | undefined): BufferRoom {
  const { virtualPods = [] } = snapshot;
  if (simulate === undefined || virtualPods.length === 0) return { byNode: new Map(), snapshot, isShort: false };
  const plan = simulate(snapshot, { excludeNodes: new Set(), extraPods: [], reservedMode: "fallback", settling: new Set() });
  const imagined = new Set(virtualPods.map(podKey));
  const lying = plan.existingNodes.map(({ name, pods }) => [name, pods.filter((pod) => imagined.has(pod))] as const);
  const placed = new Set(lying.flatMap(([, pods]) => pods));
  return {
    byNode: new Map(lying.flatMap(([name, pods]) => (pods.length > 0 ? [[name, pods.length] as const] : []))),
    snapshot: { ...snapshot, virtualPods: virtualPods.filter((pod) => placed.has(podKey(pod))) },
    isShort: plan.newNodeClaims.some(({ pods }) => pods.some((pod) => imagined.has(pod))),
  };
}
