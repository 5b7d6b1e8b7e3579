import { expect, it } from "vitest";
import { withCommandRoom } from "../../../../core/disruption/cluster/command-room.ts";
import type { CommandRecord } from "../../../../core/model/command-record.ts";
import { podUid } from "../../../../core/pods/predicates.ts";
import { pendingPods } from "../../../../core/scheduling/problem/pending-pods.ts";
import { nodePool, pod, snapshot } from "../builders.ts";

const moving = pod("moving", "a");
const lost = pod("lost", "a");

function world(phase: CommandRecord["phase"], more: { readonly isDestinationGoing?: boolean } = {}) {
  const machines = [{ name: "a" }, { name: "b", ...(more.isDestinationGoing && { deletionTimestamp: "2026-01-01T11:59:00Z" }) }];
  const seen = { ...snapshot({ pools: [nodePool()], machines, pods: [moving, lost] }), disrupting: new Set(["a-claim"]) };
  const candidate = { nodeClaim: "a-claim", node: "a", nodePool: "default", pods: ["default/lost", "default/moving"] };
  const command = { id: "c", phase, candidates: [candidate], destinations: { "default/moving": "b-claim" } } as unknown as CommandRecord;
  return withCommandRoom(seen, [command]);
}

const planned = (seen: ReturnType<typeof world>) => pendingPods(seen).pods.map(({ metadata }) => metadata.name);

it("plans nothing for pods of a node that waits for its replacement, whatever has become of that", () => {
  expect(planned(world("Replacing"))).toEqual([]);
  expect(world("Replacing").nominated.get(podUid(moving))).toBe("b-claim");
});

it("plans for a pod without a place once its node goes, and not for one that has a place", () => {
  expect(planned(world("Deleting"))).toEqual(["lost"]);
});

it("plans for a pod anew when its place goes too", () => {
  expect(planned(world("Deleting", { isDestinationGoing: true }))).toEqual(["lost", "moving"]);
});

it("takes a rolled back command for none", () => {
  expect(world("RollingBack").nominated.size).toBe(0);
});
