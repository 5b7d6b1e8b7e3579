import { describe, expect, it } from "vitest";
import { type PodEvent, podEvents, withPodEvents } from "#core/disruption/reports/pod-events.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { Pod } from "#core/model/pod.ts";
import { at, INSTANCE, NOW, node, nodeClaim, pod, record } from "#test/support/builders.ts";

const claim = nodeClaim({ conditions: ["Launched", "Registered", "Initialized"] });
const up = record({ instance: INSTANCE, initializedAt: NOW - 60_000 });

interface Look {
  readonly last?: PodEvent | undefined;
  readonly now?: number;
  readonly of?: NodeClaimRecord;
  readonly seenClaim?: NodeClaim;
}

const look = (pods: readonly Pod[], { last, now = NOW, of = up, seenClaim = claim }: Look = {}): PodEvent | undefined =>
  podEvents({ nodes: [node()], nodeClaims: [seenClaim], pods } as never, [of], new Map(last ? [[of.name, last]] : []), now).get(of.name);

const bound = (name: string, secondsAgo: number): Pod => ({
  ...pod(name),
  status: { phase: "Running", conditions: [{ type: "PodScheduled", status: "True", lastTransitionTime: at(secondsAgo) }] },
});

describe("pod events, derived from the pods of a node", () => {
  const seen = look([bound("a", 30)]);

  it("start at the latest binding when no pass has seen the node", () => {
    expect(seen?.at).toBe(NOW - 30_000);
  });

  it("start at what the NodeClaim says when that is later, as after a loss of the table", () => {
    const told = { ...claim, status: { ...claim.status, lastPodEventTime: at(10) } } as NodeClaim;
    expect(look([bound("a", 30)], { seenClaim: told })?.at).toBe(NOW - 10_000);
  });

  it("stay the same for the same pods in any order, however often they are read", () => {
    expect(look([bound("a", 30)], { last: seen, now: NOW + 60_000 })).toEqual(seen);
    const two = look([bound("a", 30), bound("b", 20)]);
    expect(look([bound("b", 20), bound("a", 30)], { last: two, now: NOW + 60_000 })).toEqual(two);
  });

  it.for([
    { name: "a pod that is added", pods: [bound("a", 30), bound("b", 0)] },
    { name: "a pod that is removed", pods: [] },
    { name: "a pod that succeeds", pods: [{ ...bound("a", 30), status: { phase: "Succeeded" as const } }] },
    { name: "a pod that is being deleted", pods: [pod("a", {}, { deletionTimestamp: at(0) })] },
    { name: "a pod of the same name with another UID", pods: [pod("a", {}, { uid: "other" })] },
  ])("change with $name", ({ pods }) => {
    expect(look(pods, { last: seen, now: NOW + 60_000 })?.at).toBe(NOW + 60_000);
  });

  it("change at most once in ten seconds, and not for DaemonSet pods", () => {
    const fresh = { digest: seen?.digest ?? 0, at: NOW - 1_000 };
    expect(look([], { last: fresh })).toEqual(fresh);
    const daemon = pod("d", {}, { ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "d" }] });
    expect(look([bound("a", 30), daemon], { last: seen, now: NOW + 60_000 })).toEqual(seen);
  });

  it("are kept of a node that goes, and forgotten with its record", () => {
    const going = { ...up, terminating: { reason: "deleted", at: NOW } };
    expect(look([], { last: seen, of: going, now: NOW + 60_000 })).toEqual(seen);
    expect(podEvents({ nodes: [], nodeClaims: [], pods: [] } as never, [], new Map([["gone", { digest: 0 }]]), NOW).size).toBe(0);
  });

  it("are the times of their records", () => {
    expect(withPodEvents([up], new Map([[up.name, { digest: 0, at: NOW }]]))).toEqual([{ ...up, lastPodEventAt: NOW }]);
    expect(withPodEvents([up], new Map([[up.name, { digest: 0 }]]))).toEqual([up]);
    expect(withPodEvents([up], new Map())).toEqual([up]);
  });
});
