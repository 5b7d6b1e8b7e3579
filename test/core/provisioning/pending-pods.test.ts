import { describe, expect, it } from "vitest";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { Pod } from "#core/model/pod.ts";
import { movingPods, startsAlone, waitForOneNode } from "#core/provisioning/pending-pods.ts";
import { at, NOW, pod, record } from "../../support/builders.ts";

const named = (name: string): Pod => pod(name, {}, { uid: name });
const planned = (name: string, pods: readonly string[], change: Partial<NodeClaimRecord> = {}): NodeClaimRecord =>
  record({ name, podUids: pods, launchedAt: NOW - 30_000, ...change });

const ending = (name: string): NodeClaimRecord => planned(name, [], { terminating: { reason: "deleted", at: NOW } });

describe("a glance at the pods", () => {
  it.for([
    { name: "has no new node", records: [], moves: true },
    { name: "has a new node on its way", records: [planned("new", ["a"])], moves: false },
    { name: "has a new node that takes pods", records: [planned("new", ["a"], { initializedAt: NOW })], moves: true },
    {
      name: "has a new node that is given up",
      records: [planned("new", ["a"], { terminating: { reason: "launch_timeout", at: NOW } })],
      moves: true,
    },
  ])("a pod of a going node that $name may need a plan: $moves", ({ records, moves }) => {
    expect(movingPods([named("a")], records, NOW)).toHaveLength(moves ? 1 : 0);
  });

  it.for([
    {
      name: "of a DaemonSet",
      metadata: { ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "x", uid: "x", controller: true }] },
    },
    { name: "that is static", metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "x", uid: "x", controller: true }] } },
    { name: "that is being deleted", metadata: { deletionTimestamp: at(1) } },
  ])("a pod $name ends with its node", ({ metadata }) => {
    expect(movingPods([pod("x", {}, metadata)], [], NOW)).toEqual([]);
  });

  it.for([
    { name: "one node that starts", records: [planned("one", ["a", "b"])], waits: true },
    { name: "two nodes that start", records: [planned("one", ["a"]), planned("two", ["b"])], waits: false },
    { name: "one node, and one of them for none", records: [planned("one", ["a"])], waits: false },
    { name: "one node that takes pods", records: [planned("one", ["a", "b"], { initializedAt: NOW })], waits: false },
  ])("pods that wait for $name: $waits", ({ records, waits }) => {
    expect(waitForOneNode([named("a"), named("b")], records, NOW)).toBe(waits);
  });

  it.for([
    { name: "one node", records: [planned("one", []), planned("up", [], { initializedAt: NOW })], alone: true },
    { name: "one node beside one that ends", records: [planned("one", []), ending("two")], alone: true },
    { name: "two nodes", records: [planned("one", []), planned("two", [])], alone: false },
    { name: "no node", records: [planned("up", [], { initializedAt: NOW })], alone: false },
  ])("$name that starts, starts alone: $alone", ({ records, alone }) => {
    expect(startsAlone(records)).toBe(alone);
  });

  it("no pods wait for no node", () => {
    expect(waitForOneNode([], [], NOW)).toBe(false);
  });
});
