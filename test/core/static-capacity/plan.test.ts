import { describe, expect, it } from "vitest";
import type { CommandRecord } from "#core/model/command-record.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import { type ClaimFacts, countReplicas } from "#core/static-capacity/count.ts";
import { replicaChanges } from "#core/static-capacity/plan.ts";
import { at, NOW, nodeClaim, record } from "../../support/builders.ts";

function pool(replicas: number | undefined, spec: Partial<NodePool["spec"]> = {}, ready: "True" | "False" = "True"): NodePool {
  const nodeClassRef = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" };
  return {
    metadata: { name: "default" },
    spec: { template: { spec: { requirements: [], nodeClassRef } }, ...(replicas !== undefined && { replicas }), ...spec },
    status: { conditions: [{ type: "Ready", status: ready }] },
  };
}

const claim = (name: string, deleted = false) => nodeClaim({ name, ...(deleted && { deletionTimestamp: at(1) }) });
const going = { reason: "deleted", at: NOW };
const replacing = (...names: readonly string[]): CommandRecord =>
  ({ phase: "Replacing", candidates: names.map((nodeClaim) => ({ nodeClaim })) }) as unknown as CommandRecord;
const facts = (change: Partial<ClaimFacts> = {}): ClaimFacts => ({ claims: [], records: [], commands: [], ...change });

describe("the claims of a static pool", () => {
  it.for([
    { name: "a record counts before its claim exists", known: { records: [record({ name: "a" })] }, want: [1, 0, 0] },
    { name: "a claim counts without a record", known: { claims: [claim("a")] }, want: [1, 0, 0] },
    { name: "a claim and its record count once", known: { claims: [claim("a")], records: [record({ name: "a" })] }, want: [1, 0, 0] },
    { name: "a deleted claim counts as deleting", known: { claims: [claim("a", true), claim("b")] }, want: [1, 1, 0] },
    {
      name: "a claim with a terminating record counts as deleting",
      known: { claims: [claim("a")], records: [record({ name: "a", terminating: going })] },
      want: [0, 1, 0],
    },
    {
      name: "a claim that a command replaces counts separately",
      known: { claims: [claim("a"), claim("b")], commands: [replacing("a")] },
      want: [1, 0, 1],
    },
    {
      name: "a deleted claim does not count as being replaced",
      known: { claims: [claim("a", true)], commands: [replacing("a")] },
      want: [0, 1, 0],
    },
  ])("$name", ({ known, want }) => {
    const { active = [], deleting = 0, beingReplaced = 0 } = countReplicas(facts(known)).get("default") ?? {};
    expect([active.length, deleting, beingReplaced]).toEqual(want);
  });
});

describe("a pool's replicas", () => {
  const three = { claims: [claim("a"), claim("b"), claim("c")] };
  const change = (of: NodePool, known: Partial<ClaimFacts>): string => {
    const [found] = replicaChanges([of], facts(known), 0);
    return found ? `${found.current} of ${found.desired}: +${found.add} -${found.remove}${found.limited ? " limited" : ""}` : "nothing";
  };

  it.for([
    { name: "as many as wanted", of: pool(3), known: three, want: "nothing" },
    { name: "none yet", of: pool(2), known: {}, want: "0 of 2: +2 -0" },
    { name: "too few", of: pool(5), known: three, want: "3 of 5: +2 -0" },
    { name: "too many", of: pool(1), known: three, want: "3 of 1: +0 -2" },
    { name: "none wanted", of: pool(0), known: three, want: "3 of 0: +0 -3" },
    { name: "within its limit", of: pool(5, { limits: { nodes: "4" } }), known: three, want: "3 of 5: +1 -0 limited" },
    { name: "at its limit", of: pool(5, { limits: { nodes: 3 } }), known: three, want: "3 of 5: +0 -0 limited" },
    {
      name: "a node that is being removed counts for limits.nodes",
      of: pool(3, { limits: { nodes: "3" } }),
      known: { claims: [claim("a"), claim("b"), claim("c", true)] },
      want: "2 of 3: +0 -0 limited",
    },
    {
      name: "a replacement counts for the claim that it replaces",
      of: pool(3),
      known: { claims: [...three.claims, claim("d")], commands: [replacing("a")] },
      want: "nothing",
    },
    { name: "a pool that is not ready gets no nodes", of: pool(5, {}, "False"), known: three, want: "nothing" },
    { name: "a pool that is not ready loses surplus nodes", of: pool(2, {}, "False"), known: three, want: "3 of 2: +0 -1" },
    { name: "a dynamic pool", of: pool(undefined), known: three, want: "nothing" },
  ])("$name", ({ of, known, want }) => {
    expect(change(of, known)).toBe(want);
  });

  it("a pool that is being deleted is left alone", () => {
    const { metadata, ...rest } = pool(5);
    expect(replicaChanges([{ ...rest, metadata: { ...metadata, deletionTimestamp: at(1) } }], facts(), 0)).toEqual([]);
  });
});
