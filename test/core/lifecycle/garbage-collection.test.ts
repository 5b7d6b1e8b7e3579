import { describe, expect, it } from "vitest";
import {
  type Inventory,
  orphanInstances,
  ownerlessNodes,
  vanishedClaims,
  withoutMachine,
} from "../../../core/lifecycle/garbage-collection.ts";
import type { Instance } from "../../../core/model/instance.ts";
import { INSTANCE, NOW, node, nodeClaim, record } from "../../support/builders.ts";

const MINUTE = 60_000;
const machine = (change: Partial<Instance> = {}): Instance => ({
  ...INSTANCE,
  state: "running",
  launchedAt: NOW - 6 * MINUTE,
  tags: { "karpenter.sh/nodeclaim": "default-abcde", "karpenter-serverless/claim-uid": "uid-1" },
  ...change,
});
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

describe("machines without a claim", () => {
  it.for([
    { name: "neither record nor claim: collected", change: {}, want: ["i-1"] },
    { name: "its record owns it", change: { records: [up] }, want: [] },
    { name: "the table is lost, its claim owns it", change: { claims: [REGISTERED_CLAIM] }, want: [] },
    { name: "the table is lost, its claim has not been told of it yet", change: { claims: [nodeClaim()] }, want: [] },
    { name: "its launch is not on record yet", change: { records: [record({ uid: "uid-1" })] }, want: [] },
    {
      name: "its claim was given another machine",
      change: { records: [record({ uid: "uid-1", instance: { ...INSTANCE, id: "i-2" } })] },
      want: ["i-1"],
    },
    { name: "too young", change: { instances: [machine({ launchedAt: NOW - 4 * MINUTE })] }, want: [] },
    { name: "going already", change: { instances: [machine({ state: "shutting-down" })] }, want: [] },
  ])("$name", ({ change, want }) => {
    expect(orphanInstances(sight(change)).ended.map(({ id }) => id)).toEqual(want);
  });

  it.for([
    { name: "two of two that are nodes: held", ids: ["i-1", "i-2"], owned: [], nodes: ["i-1", "i-2"], ended: 0, held: 2 },
    { name: "two of four", ids: ["i-1", "i-2", "i-3", "i-4"], owned: ["i-3", "i-4"], nodes: ["i-1", "i-2"], ended: 2, held: 0 },
    { name: "two of two that never joined", ids: ["i-1", "i-2"], owned: [], nodes: [], ended: 2, held: 0 },
    { name: "the only one", ids: ["i-1"], owned: [], nodes: ["i-1"], ended: 1, held: 0 },
  ])("most at once are taken for an accident: $name", ({ ids, owned, nodes, ended, held }) => {
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

describe("claims without a machine", () => {
  const silent = node("registered", { ready: false });
  it.for([
    { name: "not listed, node silent: suspected", change: { nodes: [silent] }, want: 1 },
    { name: "not listed, no node: suspected", change: {}, want: 1 },
    { name: "not listed, but the node is Ready", change: { nodes: [node()] }, want: 0 },
    { name: "listed", change: { instances: [machine()] }, want: 0 },
    { name: "shutting down", change: { instances: [machine({ state: "shutting-down" })] }, want: 1 },
    { name: "never registered: for liveness to judge", change: { claims: [nodeClaim({ conditions: ["Launched"] })] }, want: 0 },
    { name: "going already", change: { records: [{ ...up, terminating: { reason: "deleted", at: NOW } }] }, want: 0 },
  ])("$name", ({ change, want }) => {
    const seen = sight({ records: [up], claims: [REGISTERED_CLAIM], instances: [], ...change });
    expect(withoutMachine(seen)).toHaveLength(want);
  });
});

describe("nodes without claim and machine", () => {
  it.for([
    { name: "silent: deleted", nodes: [node("registered", { ready: false })], change: {}, want: ["delete"] },
    { name: "Ready: left alone", nodes: [node()], change: {}, want: [] },
    { name: "being deleted: let go", nodes: [node("going", { ready: false })], change: {}, want: ["free"] },
    { name: "a machine is there", nodes: [node("going")], change: { instances: [machine()] }, want: [] },
    { name: "a record is there", nodes: [node("going")], change: { records: [up] }, want: [] },
    { name: "a claim is there", nodes: [node("going")], change: { claims: [REGISTERED_CLAIM] }, want: [] },
  ])("$name", ({ nodes, change, want }) => {
    expect(ownerlessNodes(sight({ instances: [], nodes, ...change })).map(({ action }) => action)).toEqual(want);
  });
});

describe("claims that vanish without having been deleted", () => {
  const claim = (name: string) => nodeClaim({ name });
  const published = (...names: readonly string[]) => names.map((name) => record({ name, uid: `uid-${name}` }));

  it.for([
    { name: "the only one: taken for a wish", records: published("a"), claims: [], ended: 1, held: 0 },
    { name: "one of two", records: published("a", "b"), claims: [claim("b")], ended: 1, held: 0 },
    { name: "two of two: held", records: published("a", "b"), claims: [], ended: 0, held: 2 },
    { name: "two of four", records: published("a", "b", "c", "d"), claims: [claim("a"), claim("b")], ended: 2, held: 0 },
    { name: "three of four: held", records: published("a", "b", "c", "d"), claims: [claim("a")], ended: 0, held: 3 },
    { name: "one that never had a claim has not vanished", records: [record({ name: "a" })], claims: [], ended: 0, held: 0 },
  ])("$name", ({ records, claims, ended, held }) => {
    const vanished = vanishedClaims({ records, claims });
    expect({ ended: vanished.ended.length, held: vanished.held.length }).toEqual({ ended, held });
  });
});
