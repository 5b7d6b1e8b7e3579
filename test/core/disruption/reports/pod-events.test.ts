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

describe("pod events, told from what is there (traps.md 7)", () => {
  const seen = look([bound("a", 30)], up) as NodeClaimRecord;

  it("at the first look count from the latest binding", () => {
    expect(seen.lastPodEventAt).toBe(NOW - 30_000);
  });

  it("do not move when nothing moved, however often one looks and in whatever order", () => {
    expect(look([bound("a", 30)], seen, NOW + 60_000)).toBeUndefined();
    const two = look([bound("a", 30), bound("b", 20)], up) as NodeClaimRecord;
    expect(look([bound("b", 20), bound("a", 30)], two, NOW + 60_000)).toBeUndefined();
  });

  it.for([
    { name: "a pod that comes", pods: [bound("a", 30), bound("b", 0)] },
    { name: "a pod that goes", pods: [] },
    { name: "a pod that ends", pods: [{ ...bound("a", 30), status: { phase: "Succeeded" as const } }] },
    { name: "a pod that is asked to go", pods: [pod("a", {}, { deletionTimestamp: at(0) })] },
    { name: "a pod that is another of the same name", pods: [pod("a", {}, { uid: "other" })] },
  ])("move with $name", ({ pods }) => {
    expect(look(pods, seen, NOW + 60_000)?.lastPodEventAt).toBe(NOW + 60_000);
  });

  it("move at most once in ten seconds, and not for daemons", () => {
    const fresh = { ...seen, lastPodEventAt: NOW - 1_000 };
    expect(look([], fresh)).toBeUndefined();
    const daemon = pod("d", {}, { ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "d" }] });
    expect(look([bound("a", 30), daemon], seen, NOW + 60_000)).toBeUndefined();
  });
});
