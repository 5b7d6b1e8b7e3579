import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import type { Lab } from "#lab/host.ts";
import { eventOf } from "#lab/world/cloud-events.ts";
import * as objects from "../support/objects.ts";
import { START } from "./story.ts";

/** A second cluster of the stack, whose API server does not answer. */
export const NEIGHBOUR = "neighbour";

const INSTANCE = { id: "i-0neighbour", instanceType: "m5.large", zone: "us-west-2a", capacityType: "spot", imageId: "ami-1" } as const;

/** The neighbour's one NodeClaim, overdue from the start. */
export async function settle(table: NodeClaimStore): Promise<NodeClaimRecord> {
  const { metadata, spec } = objects.nodeClaim("theirs", { uid: "theirs" });
  const own = objects.record("theirs", { now: START, manifest: { metadata, spec } });
  return table.create({ ...own, cluster: NEIGHBOUR, instance: INSTANCE, uid: "theirs", dueAt: START, version: 0 });
}

/** EC2 takes the neighbour's machine back, and its planner is woken: messages that fail each time. */
export function ringNeighbour({ world, wakeUps }: Lab): void {
  const now = world.clock.now();
  const instance = { ...INSTANCE, state: "running", launchedAt: START, tags: {} } as const;
  const event = eventOf("interruption", instance, { region: world.region, id: `neighbour-${now}`, now });
  wakeUps.interruption.send(JSON.stringify(event));
  void wakeUps.wake([
    { kind: "provision", cluster: NEIGHBOUR, cause: "NodePoolReady", detail: "theirs" },
    { kind: "claim", cluster: NEIGHBOUR, claim: "theirs" },
  ]);
}
