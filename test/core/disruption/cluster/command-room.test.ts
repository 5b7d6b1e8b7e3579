import { expect, it } from "vitest";
import { withCommandRoom } from "#core/disruption/cluster/command-room.ts";
import type { CommandRecord } from "#core/model/command-record.ts";
import { podUid } from "#core/pods/predicates.ts";
import { pendingPods } from "#core/scheduling/problem/pending-pods.ts";
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

it("nothing is planned for pods of a node that waits for its replacement, whatever state that is in", () => {
  expect(planned(world("Replacing"))).toEqual([]);
  expect(world("Replacing").nominated.get(podUid(moving))).toBe("b-claim");
});

it("a pod of a node that is being deleted is planned only without a destination", () => {
  expect(planned(world("Deleting"))).toEqual(["lost"]);
});

it("a pod is planned again when its destination is removed", () => {
  expect(planned(world("Deleting", { isDestinationGoing: true }))).toEqual(["lost", "moving"]);
});

it("a command that is rolled back reserves no room", () => {
  expect(world("RollingBack").nominated.size).toBe(0);
});
