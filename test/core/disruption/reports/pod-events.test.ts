import { describe, expect, it } from "vitest";
import { podEvents } from "../../../../core/disruption/reports/pod-events.ts";
import type { NodeClaimRecord } from "../../../../core/model/node-claim-record.ts";
import type { Pod } from "../../../../core/model/pod.ts";
import { at, INSTANCE, NOW, node, nodeClaim, pod, record } from "../../../support/builders.ts";

const claim = nodeClaim({ conditions: ["Launched", "Registered", "Initialized"] });
const up = record({ instance: INSTANCE, initializedAt: NOW - 60_000 });
const look = (pods: readonly Pod[], from: NodeClaimRecord, now = NOW): NodeClaimRecord | undefined =>
  podEvents({ nodes: [node()], nodeClaims: [claim], pods } as never, [from], now)[0];

const bound = (name: string, secondsAgo: number): Pod => ({
  ...pod(name),
  status: { phase: "Running", conditions: [{ type: "PodScheduled", status: "True", lastTransitionTime: at(secondsAgo) }] },
});

describe("pod events, derived from the pods of a node", () => {
  const seen = look([bound("a", 30)], up) as NodeClaimRecord;

  it("start at the latest binding when the record has no digest", () => {
    expect(seen.lastPodEventAt).toBe(NOW - 30_000);
  });

  it("stay the same for the same pods in any order, however often they are read", () => {
    expect(look([bound("a", 30)], seen, NOW + 60_000)).toBeUndefined();
    const two = look([bound("a", 30), bound("b", 20)], up) as NodeClaimRecord;
    expect(look([bound("b", 20), bound("a", 30)], two, NOW + 60_000)).toBeUndefined();
  });

  it.for([
    { name: "a pod that is added", pods: [bound("a", 30), bound("b", 0)] },
    { name: "a pod that is removed", pods: [] },
    { name: "a pod that succeeds", pods: [{ ...bound("a", 30), status: { phase: "Succeeded" as const } }] },
    { name: "a pod that is being deleted", pods: [pod("a", {}, { deletionTimestamp: at(0) })] },
    { name: "a pod of the same name with another UID", pods: [pod("a", {}, { uid: "other" })] },
  ])("change with $name", ({ pods }) => {
    expect(look(pods, seen, NOW + 60_000)?.lastPodEventAt).toBe(NOW + 60_000);
  });

  it("change at most once in ten seconds, and not for DaemonSet pods", () => {
    const fresh = { ...seen, lastPodEventAt: NOW - 1_000 };
    expect(look([], fresh)).toBeUndefined();
    const daemon = pod("d", {}, { ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "d" }] });
    expect(look([bound("a", 30), daemon], seen, NOW + 60_000)).toBeUndefined();
  });
});
