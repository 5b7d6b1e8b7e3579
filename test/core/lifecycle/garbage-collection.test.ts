import { describe, expect, it } from "vitest";
import {
  type Inventory,
  lossOf,
  orphanInstances,
  ownerlessNodes,
  stoppedMachines,
  vanishedClaims,
  withoutMachine,
} from "#core/lifecycle/garbage-collection.ts";
import type { Instance } from "#core/model/instance.ts";
import { INSTANCE, NOW, node, nodeClaim, record } from "../../support/builders.ts";

const MINUTE = 60_000;
const machine = (change: Partial<Instance> = {}): Instance => ({
  ...INSTANCE,
  state: "running",
  launchedAt: NOW - 6 * MINUTE,
  tags: { "karpenter.sh/nodeclaim": "default-abcde", "karpenter-serverless/claim-uid": "uid-1" },
  ...change,
});
const GROUP = { id: "g.1", members: ["other"], requests: {}, zoneTurn: 0, joinMs: 8_000 };
const ofGroup = machine({ tags: { "karpenter-serverless/launch-group": "g.1" } });
const up = record({ uid: "uid-1", instance: INSTANCE });
const REGISTERED_CLAIM = nodeClaim({ conditions: ["Launched", "Registered"] });
const sight = (change: Partial<Inventory>): Inventory => ({
  records: [],
  claims: [],
  nodes: [],
  instances: [machine()],
  now: NOW,
  ...change,
});

describe("instances without an owner", () => {
  it.for([
    { name: "an instance with neither record nor NodeClaim is collected", change: {}, want: ["i-1"] },
    { name: "an instance with a record is kept", change: { records: [up] }, want: [] },
    { name: "an instance with a NodeClaim is kept although the table is lost", change: { claims: [REGISTERED_CLAIM] }, want: [] },
    {
      name: "an instance whose NodeClaim does not name it yet is kept although the table is lost",
      change: { claims: [nodeClaim()] },
      want: [],
    },
    { name: "an instance whose launch is not on record yet is kept", change: { records: [record({ uid: "uid-1" })] }, want: [] },
    {
      name: "an instance whose NodeClaim has another instance is collected",
      change: { records: [record({ uid: "uid-1", instance: { ...INSTANCE, id: "i-2" } })] },
      want: ["i-1"],
    },
    {
      name: "an instance that was launched together with others is kept until each member of its group has its own",
      change: { instances: [ofGroup], records: [record({ uid: "uid-9", name: "other", launchGroup: GROUP })] },
      want: [],
    },
    {
      name: "an instance of a group whose members have theirs is collected",
      change: { instances: [ofGroup], records: [record({ name: "other", launchGroup: GROUP, instance: { ...INSTANCE, id: "i-2" } })] },
      want: ["i-1"],
    },
    {
      name: "an instance of a group whose members have gone on to the next attempt is collected",
      change: { instances: [ofGroup], records: [record({ uid: "uid-9", name: "other", launchGroup: { ...GROUP, id: "g.2" } })] },
      want: ["i-1"],
    },
    {
      name: "an instance of a group is kept while a record that may be its member's cannot be read",
      change: { instances: [ofGroup], unreadable: new Set(["other"]) },
      want: [],
    },
    { name: "a young instance is kept", change: { instances: [machine({ launchedAt: NOW - 4 * MINUTE })] }, want: [] },
    { name: "an instance that shuts down is ignored", change: { instances: [machine({ state: "shutting-down" })] }, want: [] },
  ])("$name", ({ change, want }) => {
    expect(orphanInstances(sight(change)).ended.map(({ id }) => id)).toEqual(want);
  });

  it.for([
    { name: "two of two with nodes are held", ids: ["i-1", "i-2"], owned: [], nodes: ["i-1", "i-2"], ended: 0, held: 2 },
    {
      name: "two of four are collected",
      ids: ["i-1", "i-2", "i-3", "i-4"],
      owned: ["i-3", "i-4"],
      nodes: ["i-1", "i-2"],
      ended: 2,
      held: 0,
    },
    { name: "two of two that never joined are collected", ids: ["i-1", "i-2"], owned: [], nodes: [], ended: 2, held: 0 },
    { name: "a single one is collected", ids: ["i-1"], owned: [], nodes: ["i-1"], ended: 1, held: 0 },
  ])("a loss of most instances at once is an accident: $name", ({ ids, owned, nodes, ended, held }) => {
    const found = orphanInstances(
      sight({
        instances: ids.map((id) => machine({ id, tags: {} })),
        records: owned.map((id) => record({ name: id, uid: id, instance: { ...INSTANCE, id } })),
        nodes: nodes.map((id) => ({ ...node(), spec: { providerID: `aws:///z/${id}` } })),
      }),
    );
    expect({ ended: found.ended.length, held: found.held.length }).toEqual({ ended, held });
  });
});

describe("records without an instance", () => {
  const silent = node("registered", { ready: false });
  it.for([
    { name: "a record whose instance is not listed and whose node is not Ready is suspected", change: { nodes: [silent] }, want: 1 },
    { name: "a record whose instance is not listed and that has no node is suspected", change: {}, want: 1 },
    { name: "a record whose node is Ready is kept", change: { nodes: [node()] }, want: 0 },
    { name: "a record whose instance is listed is kept", change: { instances: [machine()] }, want: 0 },
    { name: "a record whose instance shuts down is suspected", change: { instances: [machine({ state: "shutting-down" })] }, want: 1 },
    { name: "a record that terminates is ignored", change: { records: [{ ...up, terminating: { reason: "deleted", at: NOW } }] }, want: 0 },
  ])("$name", ({ change, want }) => {
    const seen = sight({ records: [up], claims: [REGISTERED_CLAIM], instances: [], ...change });
    expect(withoutMachine(seen)).toHaveLength(want);
  });

  const young = nodeClaim({ conditions: ["Launched"] });
  it.for([
    {
      name: "registered, and EC2 does not know the instance: given up",
      claims: [REGISTERED_CLAIM],
      found: undefined,
      want: "garbage_collected",
    },
    { name: "registered, and the instance is ended: given up", claims: [REGISTERED_CLAIM], found: "terminated", want: "garbage_collected" },
    { name: "registered, and the instance runs: kept", claims: [REGISTERED_CLAIM], found: "running", want: undefined },
    { name: "not registered, and EC2 does not know the instance yet: kept", claims: [young], found: undefined, want: undefined },
    { name: "not registered, and the instance is ended: given up", claims: [young], found: "shutting-down", want: "instance_terminated" },
  ] as const)("$name", ({ claims, found, want }) => {
    expect(lossOf(up, { found: found && machine({ state: found }), claims, now: NOW })).toBe(want);
  });

  it.for([
    { name: "59 seconds after its launch: kept", ageMs: MINUTE - 1_000, found: undefined, want: undefined },
    { name: "a minute after its launch: given up", ageMs: MINUTE, found: undefined, want: "garbage_collected" },
    { name: "ended within the minute: given up", ageMs: MINUTE - 1_000, found: "terminated", want: "garbage_collected" },
  ] as const)("registered, and EC2 does not list the instance $name", ({ ageMs, found, want }) => {
    const launched = { ...up, launchedAt: NOW - ageMs };
    expect(lossOf(launched, { found: found && machine({ state: found }), claims: [REGISTERED_CLAIM], now: NOW })).toBe(want);
  });

  it.for([
    { name: "whose instance stops is found", change: { instances: [machine({ state: "stopping" })] }, want: 1 },
    { name: "whose instance runs is not", change: { instances: [machine()] }, want: 0 },
    {
      name: "that terminates is not",
      change: { instances: [machine({ state: "stopped" })], records: [{ ...up, terminating: { reason: "deleted", at: NOW } }] },
      want: 0,
    },
  ] as const)("a record $name", ({ change, want }) => {
    expect(stoppedMachines(sight({ records: [up], ...change }))).toHaveLength(want);
  });
});

describe("nodes without an owner", () => {
  it.for([
    { name: "a node that is not Ready is deleted", nodes: [node("registered", { ready: false })], change: {}, want: ["delete"] },
    { name: "a node that is Ready is kept", nodes: [node()], change: {}, want: [] },
    { name: "a node that is being deleted loses our finalizer", nodes: [node("going", { ready: false })], change: {}, want: ["free"] },
    { name: "a node with an instance is kept", nodes: [node("going")], change: { instances: [machine()] }, want: [] },
    { name: "a node with a record is kept", nodes: [node("going")], change: { records: [up] }, want: [] },
    { name: "a node with a NodeClaim is kept", nodes: [node("going")], change: { claims: [REGISTERED_CLAIM] }, want: [] },
  ])("$name", ({ nodes, change, want }) => {
    expect(ownerlessNodes(sight({ instances: [], nodes, ...change })).map(({ action }) => action)).toEqual(want);
  });
});

describe("NodeClaims that vanish without a deletion", () => {
  const claim = (name: string) => nodeClaim({ name });
  const published = (...names: readonly string[]) => names.map((name) => record({ name, uid: `uid-${name}` }));

  it.for([
    { name: "a single vanished NodeClaim is terminated", records: published("a"), claims: [], ended: 1, held: 0 },
    { name: "one of two vanished NodeClaims is terminated", records: published("a", "b"), claims: [claim("b")], ended: 1, held: 0 },
    { name: "two of two vanished NodeClaims are held", records: published("a", "b"), claims: [], ended: 0, held: 2 },
    {
      name: "two of four vanished NodeClaims are terminated",
      records: published("a", "b", "c", "d"),
      claims: [claim("a"), claim("b")],
      ended: 2,
      held: 0,
    },
    { name: "three of four vanished NodeClaims are held", records: published("a", "b", "c", "d"), claims: [claim("a")], ended: 0, held: 3 },
    { name: "a record that never had a NodeClaim is ignored", records: [record({ name: "a" })], claims: [], ended: 0, held: 0 },
  ])("$name", ({ records, claims, ended, held }) => {
    const vanished = vanishedClaims({ records, claims });
    expect({ ended: vanished.ended.length, held: vanished.held.length }).toEqual({ ended, held });
  });
});
