import { describe, expect, it } from "vitest";
import { compared } from "../e2e/lab-parity/compare.ts";
import { type Outcome, outcomeOf, type WatchedChange } from "../e2e/lab-parity/outcome.ts";

const node = (name: string, zone: string, more: object = {}): WatchedChange => ({
  type: "ADDED",
  object: {
    kind: "Node",
    metadata: { name, uid: name, labels: { "kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone, ...more } },
    status: { allocatable: { cpu: "4" } },
  },
});

const pod = (name: string, set: string, nodeName: string | undefined, more: object = {}): WatchedChange["object"] => ({
  kind: "Pod",
  metadata: { name, uid: name, ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: set, uid: set, controller: true }] },
  spec: { ...(nodeName !== undefined && { nodeName }) },
  status: { phase: nodeName === undefined ? "Pending" : "Running", ...more },
});

const added = (object: WatchedChange["object"]): WatchedChange => ({ type: "ADDED", object });

describe("the outcome of a run of lab-parity", () => {
  it("does not depend on the names of nodes, zones, pods and ReplicaSets", () => {
    const one = outcomeOf([node("n1", "a"), node("n2", "b"), added(pod("web-1", "web-abc", "n1"))]);
    const other = outcomeOf([node("x", "b"), node("y", "a"), added(pod("web-9", "web-xyz", "x"))]);
    expect(other).toEqual(one);
  });

  it("depends on which of two unlike nodes has the pod", () => {
    const nodes = [node("n1", "a", { team: "ml" }), node("n2", "a")];
    const on = (name: string) => outcomeOf([...nodes, added(pod("web-1", "web-abc", name))]).placement;
    expect(on("n1")).not.toEqual(on("n2"));
  });

  it("tells what happened to a pod in its order, once for each step", () => {
    const unschedulable = { conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/1 nodes" }] };
    const waiting = pod("web-1", "web-abc", undefined, unschedulable);
    const running = pod("web-1", "web-abc", "n1");
    const outcome = outcomeOf([
      added(pod("web-1", "web-abc", undefined)),
      { type: "MODIFIED", object: waiting },
      { type: "MODIFIED", object: waiting },
      { type: "MODIFIED", object: running },
      { type: "DELETED", object: running },
    ]);
    expect(outcome.histories).toEqual(["web: created, unschedulable, bound, running, deleted"]);
    expect(outcome.phases).toEqual([]);
  });
});

describe("the comparison of lab-parity", () => {
  const outcome = (placement: string, reason = "r"): Outcome => ({
    placement: [placement],
    phases: [],
    reasons: [reason],
    histories: [],
    order: [],
    objects: [],
  });

  it("accepts any outcome that a draw of the lab leads to", () => {
    expect(compared(outcome("b"), [outcome("a"), outcome("b"), outcome("a")])).toEqual({ differences: [], outcomes: 2 });
  });

  it("names the questions that no draw answers as the real cluster does", () => {
    const { differences } = compared(outcome("a", "real"), [outcome("a", "lab")]);
    expect(differences).toEqual(["reasons, lab:  lab", "reasons, real: real"]);
  });

  it("refuses answers that occur only in different draws", () => {
    const { differences } = compared(outcome("a", "x"), [outcome("a", "y"), outcome("b", "x")]);
    expect(differences).toEqual(["each answer occurs in the lab, but not all of them with one seed"]);
  });
});
