import { expect, it } from "vitest";
import type { Pod } from "#core/model/pod.ts";
import { type WaitingPlace, waitingPlaces } from "#core/provisioning/waiting-places.ts";
import * as objects from "../../support/objects.ts";
import { boundPod, nodeWithClaim, pod, snapshotOf } from "../../support/scheduling/builders.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");

/** A pod that was created so many seconds ago. */
const aged = (name: string, seconds: number): Pod =>
  pod(name, {}, {}, { creationTimestamp: new Date(NOW - seconds * 1_000).toISOString() });

const [running, starting, launched] = [nodeWithClaim("a"), nodeWithClaim("b", { initialized: false }), nodeWithClaim("c")];
const foreign = objects.node("d", { providerID: "aws:///zone-a/i-d", labels: {}, taints: [], resources: { cpu: "4", memory: "16Gi" } });

function places(pods: readonly Pod[], existingNodes: readonly { readonly name: string; readonly pods: readonly string[] }[]) {
  const nodes = [running.node, starting.node, foreign];
  const snapshot = snapshotOf({ nodes, nodeClaims: [running.claim, starting.claim, launched.claim], pods }, { now: NOW });
  return waitingPlaces({ existingNodes }, snapshot).map(({ pods: waiting, ...place }: WaitingPlace) => ({
    ...place,
    pods: waiting.map(({ metadata }) => metadata.name),
  }));
}

it.for([
  { name: "that has joined", on: "b", want: { nodeClaim: "default-b", node: "b", nodePool: "default", isReady: false } },
  { name: "that has not joined", on: "default-c", want: { nodeClaim: "default-c", node: undefined, nodePool: "default", isReady: false } },
])("a pod waits at once for a machine on its way $name", ({ on, want }) => {
  expect(places([aged("x", 0)], [{ name: on, pods: ["default/x"] }])).toEqual([{ ...want, pods: ["x"] }]);
});

it.for([
  { name: "of a NodeClaim", on: "a", want: { nodeClaim: "default-a", node: "a", nodePool: "default", isReady: true } },
  { name: "without a NodeClaim", on: "d", want: { nodeClaim: "", node: "d", nodePool: "", isReady: true } },
])("a pod waits for a node that runs, $name, once kube-scheduler has not bound it for 30 s", ({ on, want }) => {
  const placed = [{ name: on, pods: ["default/x", "default/y"] }];
  expect(places([aged("x", 30), aged("y", 29)], placed)).toEqual([{ ...want, pods: ["x"] }]);
});

it("pods that run, and those that the snapshot does not have, wait for nothing", () => {
  expect(places([boundPod("x", "a")], [{ name: "b", pods: ["default/x", "buffer/virtual-1"] }])).toEqual([]);
});
