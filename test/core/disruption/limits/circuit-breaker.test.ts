import { describe, expect, it } from "vitest";
import {
  type BreakerFacts,
  type CircuitBreaker,
  CLOSED,
  circuitHold,
  look,
  type Move,
  withLost,
  withMove,
} from "#core/disruption/limits/circuit-breaker.ts";
import { inCommon } from "#core/disruption/limits/in-common.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { Pod } from "#core/model/pod.ts";
import { nodeClaim as claimNamed, condition } from "#test/support/objects.ts";
import { NOW, nodePool, pod } from "../builders.ts";

const MINUTE = 60_000;
const POOL = nodePool("default");

const webPod = (name: string, isReady: boolean, node = "a"): Pod =>
  pod(name, node, {
    metadata: { uid: name, ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "web", controller: true }] },
    status: { phase: "Running", conditions: [condition("Ready", { status: isReady ? "True" : "False" })] },
  });
const WELL = [webPod("a", true), webPod("b", true)];
const WORSE = [webPod("a", false), webPod("b", true)];
const MOVE: Move = { command: "c1", reason: "Drifted", pools: ["default"], claims: ["old"], at: NOW, moved: { web: [2, 0] } };

const facts = (after: number, pods: readonly Pod[], more: Partial<BreakerFacts> = {}): BreakerFacts => ({
  ...{ now: NOW + after, pods, claims: new Set(), going: new Set(), commands: [], nodePools: [POOL], commonOf: () => "" },
  ...more,
});
const hold = (breaker: CircuitBreaker, after = 0, reason: "Drifted" | "Underutilized" = "Drifted") =>
  circuitHold(breaker, "default", reason, NOW + after);

const moving = withMove(CLOSED, MOVE);
const gone = look(moving, facts(MINUTE, WORSE));
const tripped = look(gone, facts(6 * MINUTE, WORSE));

describe("the circuit breaker", () => {
  it("drift of a NodePool begins with one node, and waits for its pods", () => {
    expect(hold(CLOSED)).toBeUndefined();
    expect(hold(moving)?.why).toContain("first drifted node");
    expect(hold(moving, 0, "Underutilized")).toBeUndefined();
    expect(hold(look(moving, facts(MINUTE, WELL, { claims: new Set(["old"]), going: new Set(["old"]) })))).toBeDefined();
    const proven = look(moving, facts(3 * MINUTE, WELL));
    expect(hold(proven, 3 * MINUTE)).toBeUndefined();
    // Further ones do not wait, for an hour.
    const second = withMove(proven, { ...MOVE, command: "c2" });
    expect(hold(second, 4 * MINUTE)).toBeUndefined();
    expect(hold(second, 70 * MINUTE)).toBeDefined();
  });

  it("opens for the reason when pods are worse five minutes after their nodes have gone, and not before", () => {
    expect(look(gone, facts(5 * MINUTE, WORSE)).open).toEqual({});
    expect(hold(tripped, 20 * MINUTE)?.why).toBe("only 50 % of the pods that command c1 moved are as well as before");
    expect(hold(tripped, 21 * MINUTE)).toBeUndefined();
    expect(hold(tripped, 7 * MINUTE, "Underutilized")).toBeUndefined();
  });

  it("stays open for twice as long each time", () => {
    const again = look(withMove(tripped, { ...MOVE, command: "c2", goneAt: NOW }), facts(22 * MINUTE, WORSE));
    expect(hold(again, 51 * MINUTE)).toBeDefined();
    expect(hold(again, 52 * MINUTE)).toBeUndefined();
  });

  it.for([
    { name: "the pods are well again", pods: WELL, pools: [POOL] },
    { name: "the NodePool has changed", pods: WORSE, pools: [{ ...POOL, metadata: { ...POOL.metadata, generation: 7 } }] },
    {
      name: "a person resets it",
      pods: WORSE,
      pools: [{ ...POOL, metadata: { ...POOL.metadata, annotations: { "karpenter-serverless/circuit-reset": "1" } } }],
    },
  ])("closes when $name", ({ pods, pools }) => {
    expect(hold(tripped, 7 * MINUTE)).toBeDefined();
    expect(hold(look(tripped, facts(7 * MINUTE, pods, { nodePools: pools })), 7 * MINUTE)).toBeUndefined();
  });

  it("forgets a command that was given up, and counts one once", () => {
    expect(withMove(moving, MOVE)).toBe(moving);
    expect(look(moving, facts(MINUTE, WELL, { claims: new Set(["old"]) })).moves).toEqual([]);
    const underWay = facts(MINUTE, WELL, { claims: new Set(["old"]), commands: [{ id: "c1" }] });
    expect(look(moving, underWay)).toBe(moving);
  });

  it("opens when the replacements of two commands in a row do not come up", () => {
    const lost = (breaker: CircuitBreaker, id: string) => withLost(breaker, { id, reason: "Drifted" }, ["default"], facts(0, WELL));
    const once = lost(lost(moving, "c1"), "c1");
    expect(hold(once)).toBeUndefined();
    expect(hold(lost(once, "c2"))?.why).toContain("replacements of 2 commands in a row");
  });

  it("names what the nodes of worse pods have in common, and those of well ones have not", () => {
    const claim = (node: string, imageID: string, zone: string): NodeClaim =>
      claimNamed(`${node}-claim`, { uid: node, labels: { "topology.kubernetes.io/zone": zone }, status: { nodeName: node, imageID } });
    const claims = [claim("a", "ami-2", "z1"), claim("b", "ami-2", "z2"), claim("c", "ami-1", "z1")];
    const pods = [webPod("1", false, "a"), webPod("2", false, "b"), webPod("3", true, "c")];
    expect(inCommon({ web: [2, 0] }, pods, claims)).toBe(": all that are worse run with AMI ami-2");
    expect(inCommon({ web: [2, 0] }, [webPod("3", true, "c")], claims)).toBe("");
  });
});
