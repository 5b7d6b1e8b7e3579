import { describe, expect, it } from "vitest";
import { rfc3339 } from "#core/model/conditions.ts";
import type { Instance } from "#core/model/instance.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { awaitsReplacements, hasEnded, nextNodeCheck, waitOf } from "#core/passes/claim-check.ts";
import { INSTANCE, NOW, record } from "../../support/builders.ts";

const WAITING = record({ uid: "uid-1", instance: INSTANCE, launchedAt: NOW - 30_000 });
const DEADLINE = NOW + 600_000;

function node(options: { id?: string; ready?: boolean; registered?: boolean; taints?: readonly string[]; readySince?: number } = {}): Node {
  const { id = INSTANCE.id, ready = false, registered = false, taints = [], readySince = NOW - 1_000 } = options;
  const keys = registered ? taints : ["karpenter.sh/unregistered", ...taints];
  return {
    metadata: {
      name: id,
      creationTimestamp: rfc3339(NOW - 5_000),
      labels: registered ? { "karpenter.sh/registered": "true" } : {},
    },
    spec: {
      providerID: `aws:///${INSTANCE.zone}/${id}`,
      taints: keys.map((key) => ({ key, effect: key === "karpenter.sh/unregistered" ? "NoExecute" : "NoSchedule" })),
    },
    status: { conditions: [{ type: "Ready", status: ready ? "True" : "False", lastTransitionTime: rfc3339(readySince) }] },
  } as Node;
}

const NOT_READY = "node.kubernetes.io/not-ready";
const HELD: NodeClaimRecord = { ...WAITING, heldFor: [] };
const NAMED: NodeClaimRecord = { ...WAITING, nodeName: "n" };

describe("a NodeClaim that waits for its node", () => {
  it.for<{ name: string; of?: NodeClaimRecord; young: readonly Node[]; hasEventSource?: boolean; want: number | undefined }>([
    { name: "is looked at each five seconds", young: [], want: 5_000 },
    { name: "is looked at each 30 seconds where nodes are told", young: [], hasEventSource: true, want: 30_000 },
    {
      name: "is looked at each 20 seconds where nodes are told and its node is held",
      of: HELD,
      young: [],
      hasEventSource: true,
      want: 20_000,
    },
    {
      name: "is looked at each 15 seconds where nodes are told, once it has joined",
      young: [node({ registered: true })],
      hasEventSource: true,
      want: 15_000,
    },
    { name: "has a pass when the node that its record names is no longer young", of: NAMED, young: [], want: undefined },
    { name: "has a pass when its node has joined", young: [node()], want: undefined },
    { name: "is not concerned by other nodes", young: [node({ id: "i-other" })], want: 5_000 },
    { name: "has a pass when two nodes say they are its own", young: [node(), node()], want: undefined },
    { name: "waits for its registered node to be Ready", young: [node({ registered: true })], want: 5_000 },
    { name: "has a pass when its registered node is Ready", young: [node({ registered: true, ready: true })], want: undefined },
    {
      name: "waits a moment for the taints of the start to go",
      young: [node({ registered: true, ready: true, taints: [NOT_READY] })],
      want: 5_000,
    },
    {
      name: "has a pass, which says why, when such a taint stays",
      young: [node({ registered: true, ready: true, taints: [NOT_READY], readySince: NOW - 5_000 })],
      want: undefined,
    },
    { name: "waits while its node is held", of: HELD, young: [node()], want: 2_000 },
    { name: "has a pass when its held node is Ready and no other starts", of: HELD, young: [node({ ready: true })], want: undefined },
  ])("$name", ({ of = WAITING, young, hasEventSource = false, want }) => {
    const at = nextNodeCheck(of, young, { now: NOW, hasEventSource, deadline: DEADLINE });
    expect(at === undefined ? undefined : at - NOW).toBe(want);
  });

  it("has a pass when its time is over", () => {
    expect(nextNodeCheck(WAITING, [], { now: DEADLINE + 1, deadline: DEADLINE })).toBeUndefined();
  });
});

describe("a NodeClaim whose pods wait for other nodes", () => {
  const LEAVING = record({ terminating: { reason: "spot_interrupted", at: NOW } });
  const planned = record({ createdAt: NOW + 2_000 });
  const up = { ...planned, initializedAt: NOW + 40_000 };

  it.for<{ name: string; records: readonly NodeClaimRecord[]; after: number; waits: boolean }>([
    { name: "waits while they start", records: [planned], after: 40_000, waits: true },
    { name: "has a pass when one is up", records: [planned, up], after: 41_000, waits: false },
    { name: "waits ten seconds for a plan", records: [], after: 9_000, waits: true },
    { name: "has a pass when none is planned", records: [], after: 10_000, waits: false },
    { name: "has a pass while there is time to drain", records: [planned], after: 75_000, waits: false },
    {
      name: "is not concerned by older ones",
      records: [record({ createdAt: NOW - 60_000, initializedAt: NOW })],
      after: 5_000,
      waits: true,
    },
  ])("$name", ({ records, after, waits }) => {
    expect(awaitsReplacements(LEAVING, records, NOW + after)).toBe(waits);
  });
});

it("an instance that is shutting down, or is still shown as one that runs, is waited for", () => {
  const ending = { ...INSTANCE, state: "shutting-down" } as unknown as Instance;
  expect([ending, { ...ending, state: "running" } as const].map(hasEnded)).toEqual([false, false]);
  expect([{ ...ending, state: "terminated" } as const, undefined].map(hasEnded)).toEqual([true, true]);
});

it("what a newer version waits for is left to a whole pass", () => {
  const newer = { ...WAITING, dueAt: NOW, waits: { for: "moonlight", dueAt: NOW } } as unknown as NodeClaimRecord;
  expect(waitOf(newer)).toBeUndefined();
});

it("what a record waits for holds only with the time that it was written with", () => {
  expect(waitOf({ ...WAITING, dueAt: NOW, waits: { for: "node", dueAt: NOW } })).toBe("node");
  expect(waitOf({ ...WAITING, dueAt: NOW + 1, waits: { for: "node", dueAt: NOW } })).toBeUndefined();
});
