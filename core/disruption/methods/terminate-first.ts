import { isTrue } from "../../model/conditions.ts";
import type { InstanceType } from "../../model/instance-type.ts";
import { CAPACITY_RESERVATION_ID } from "../../model/labels.ts";
import type { NodePool } from "../../model/node-pool.ts";
import { type Candidate, capacityTypeOf } from "../cluster/candidate.ts";
import type { Simulate } from "../cluster/simulation.ts";
import type { ClusterView } from "../cluster/view.ts";
import { type Destinations, tryRemoval } from "../consolidation/simulate.ts";

/** Whether a static NodePool gets a node again after it has lost one: otherwise its pods would wait for ever. */
export const isRefilled = ({ metadata, status }: NodePool): boolean =>
  isTrue(status?.conditions, "Ready") && metadata.deletionTimestamp === undefined;

/** What a command says of a node that goes before its replacement in a capacity reservation. */
interface GoesFirst {
  readonly replacements: readonly [];
  readonly destinations: Destinations;
  readonly terminateFirst: "no-reserved-capacity";
}

/**
 * The end of a node in a capacity reservation before its replacement, where all pods of the node have a place once its
 * own place there is free; undefined for other nodes, and where the node's end would not help. No pod falls back to
 * other capacity, which was tried before
 * (karpenter: pkg/controllers/disruption/helpers.go, SimulateSchedulingWithReservedFallback).
 */
export function tryWithOwnPlace(
  view: ClusterView,
  candidate: Candidate,
  simulate: Simulate,
  closed: ReadonlySet<string> = new Set(),
): GoesFirst | undefined {
  const snapshot = withOwnPlace(view.bufferRoom().snapshot, candidate);
  if (snapshot === undefined) return undefined;
  const freed = { ...view, bufferRoom: () => ({ ...view.bufferRoom(), snapshot }) };
  const { unplaced, destinations } = tryRemoval(freed, [candidate], simulate, { settle: false, closed, reservedMode: "strict" });
  return unplaced.length > 0 ? undefined : { replacements: [], destinations, terminateFirst: "no-reserved-capacity" };
}

/** The snapshot in which the place of a node in its capacity reservation is free; undefined for other nodes. */
export function withOwnPlace(snapshot: ClusterView["snapshot"], candidate: Candidate): ClusterView["snapshot"] | undefined {
  const id = candidate.machine.labels[CAPACITY_RESERVATION_ID];
  return id === undefined || capacityTypeOf(candidate) !== "reserved" ? undefined : withPlace(snapshot, id);
}

/** The snapshot with one instance more left in a reservation. */
function withPlace(snapshot: ClusterView["snapshot"], id: string): ClusterView["snapshot"] {
  const freed = (type: InstanceType): InstanceType =>
    type.offerings.some(({ reservationId }) => reservationId === id)
      ? {
          ...type,
          offerings: type.offerings.map((offering) => {
            const { reservationId, reservationCapacity: left = 0 } = offering;
            // Without an instance left it is unavailable for that alone.
            return reservationId === id
              ? { ...offering, reservationCapacity: left + 1, available: offering.available || left === 0 }
              : offering;
          }),
        }
      : type;
  return { ...snapshot, instanceTypes: new Map([...snapshot.instanceTypes].map(([pool, types]) => [pool, types.map(freed)])) };
}
