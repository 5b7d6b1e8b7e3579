import { describe, expect, it } from "vitest";
import {
  type BreakerFacts,
  type CircuitBreaker,
  CLOSED,
  circuitHold,
  look,
  type Move,
  nextCircuitLookAt,
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

const readyAs = (isReady: boolean, since: number) =>
  condition("Ready", { status: isReady ? "True" : "False", lastTransitionTime: new Date(NOW + since).toISOString() });
const webPod = (name: string, isReady: boolean, node = "a", since = -60 * MINUTE): Pod =>
  pod(name, node, {
    metadata: { uid: name, ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "web", controller: true }] },
    status: { phase: "Running", conditions: [readyAs(isReady, since)] },
  });
const WELL = [webPod("a", true), webPod("b", true)];
const WORSE = [webPod("a", false), webPod("b", true)];
const TARGETS = { "NodePool/default": "template-1", "EC2NodeClass/default": "ami-1" };
const MOVE: Move = {
  ...{ command: "c1", reason: "Drifted", pools: ["default"], claims: ["old"], targets: TARGETS, at: NOW, moved: { web: [2, 0] } },
};

const facts = (after: number, pods: readonly Pod[], more: Partial<BreakerFacts> = {}): BreakerFacts => ({
  ...{ now: NOW + after, pods, claims: new Set(), going: new Set(), commands: [], nodePools: [POOL], targets: TARGETS, commonOf: () => "" },
  ...more,
});
const hold = (breaker: CircuitBreaker, after = 0, reason: "Drifted" | "Underutilized" = "Drifted", pool = POOL) =>
  circuitHold(breaker, pool, reason, NOW + after);

const moving = withMove(CLOSED, MOVE);
const gone = look(moving, facts(MINUTE, WORSE));
const tripped = look(gone, facts(6 * MINUTE, WORSE));
const OLD = { claims: new Set(["old"]), going: new Set(["old"]), commands: [{ id: "c1" }] };
/** Of the same EC2NodeClass. */
const OTHER = nodePool("other");

describe("the circuit breaker", () => {
  it("drift of a NodePool, and of an EC2NodeClass, begins with one node and waits for its pods", () => {
    expect(hold(CLOSED)).toBeUndefined();
    expect(hold(moving)?.why).toBe("the pods of the first drifted node of NodePool/default are waited for");
    expect(hold(moving, 0, "Drifted", OTHER)?.why).toContain("first drifted node of EC2NodeClass/default");
    expect(hold(moving, 0, "Underutilized")).toBeUndefined();
    expect(hold(look(moving, facts(MINUTE, WELL, OLD)))).toBeDefined();
    const proven = look(moving, facts(3 * MINUTE, WELL));
    expect(hold(proven, 3 * MINUTE)).toBeUndefined();
    // Further ones do not wait, until the nodes are made of something else.
    const second = withMove(proven, { ...MOVE, command: "c2" });
    expect(hold(second, 4 * MINUTE)).toBeUndefined();
    const targets = { ...TARGETS, "EC2NodeClass/default": "ami-2" };
    const third = withMove(look(second, facts(4 * MINUTE, WELL, { targets })), { ...MOVE, command: "c3", targets });
    expect(hold(third, 4 * MINUTE)?.why).toContain("EC2NodeClass/default");
  });

  it("waits a quarter of an hour for a first node whose drain takes long, while all pods are well", () => {
    expect(hold(look(moving, facts(14 * MINUTE, WELL, OLD)))).toBeDefined();
    expect(hold(look(moving, facts(15 * MINUTE, WORSE, OLD)))).toBeDefined();
    expect(hold(look(moving, facts(15 * MINUTE, WELL, OLD)))).toBeUndefined();
  });

  it("opens for the reason when pods are worse five minutes after their nodes have gone, and not before", () => {
    expect(look(gone, facts(5 * MINUTE, WORSE)).open).toEqual({});
    expect(hold(tripped, 20 * MINUTE)?.why).toBe("only 50 % of the pods that command c1 moved are as well as before");
    expect(hold(tripped, 21 * MINUTE)).toBeUndefined();
    expect(hold(tripped, 7 * MINUTE, "Underutilized")).toBeUndefined();
  });

  it("opens when pods that were well at first are worse after five minutes", () => {
    const proven = look(gone, facts(3 * MINUTE, WELL));
    expect(hold(proven, 3 * MINUTE)).toBeUndefined();
    const later = look(proven, facts(6 * MINUTE, WORSE));
    expect(hold(later, 6 * MINUTE)?.why).toContain("only 50 %");
    // The next drift begins with one node.
    expect(later.proven).toEqual({});
  });

  it("holds all NodePools of an EC2NodeClass on which no pods were well, and one NodePool otherwise", () => {
    expect(hold(tripped, 7 * MINUTE, "Drifted", OTHER)).toBeDefined();
    const proven = { ...gone, proven: { "EC2NodeClass/default": "ami-1" } };
    const opened = look(proven, facts(6 * MINUTE, WORSE));
    expect(hold(opened, 7 * MINUTE)).toBeDefined();
    expect(hold(opened, 7 * MINUTE, "Drifted", OTHER)).toBeUndefined();
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

  it("closes when the AMIs of the EC2NodeClass have changed", () => {
    const targets = { ...TARGETS, "EC2NodeClass/default": "ami-2" };
    expect(hold(look(tripped, facts(7 * MINUTE, WORSE, { targets })), 7 * MINUTE)).toBeUndefined();
  });

  it("stays open while pods have been Ready for a few minutes only", () => {
    const restarted = [webPod("a", true, "a", 4 * MINUTE), webPod("b", true)];
    expect(hold(look(tripped, facts(7 * MINUTE, restarted)), 7 * MINUTE)).toBeDefined();
    expect(hold(look(tripped, facts(9 * MINUTE, restarted)), 9 * MINUTE)).toBeUndefined();
  });

  it("forgets a command that was given up, and counts one once", () => {
    expect(withMove(moving, MOVE)).toBe(moving);
    expect(look(moving, facts(MINUTE, WELL, { claims: new Set(["old"]) })).moves).toEqual([]);
    const underWay = facts(MINUTE, WELL, { claims: new Set(["old"]), commands: [{ id: "c1" }] });
    expect(look(moving, underWay)).toBe(moving);
  });

  it("opens when two replacements in a row do not come up", () => {
    const lost = (breaker: CircuitBreaker, id: string, replacements: readonly string[]) =>
      withLost(breaker, { id, reason: "Drifted" }, { pools: ["default"], replacements }, facts(0, WELL));
    const once = lost(lost(moving, "c1", ["new-1"]), "c1", ["new-1"]);
    expect(hold(once)).toBeUndefined();
    expect(hold(lost(once, "c2", []))).toBeUndefined();
    expect(hold(lost(once, "c2", ["new-2"]))?.why).toBe("2 replacements in a row did not come up");
    expect(hold(lost(CLOSED, "c1", ["new-1", "new-2"]))).toBeDefined();
  });

  it("looks every half minute while pods are waited for, and once more five minutes after nodes have gone", () => {
    const at = (breaker: CircuitBreaker, after: number): number => nextCircuitLookAt(breaker, NOW + after) - NOW;
    expect(at(moving, 1)).toBe(30_000);
    const proven = look(gone, facts(3 * MINUTE, WELL));
    expect(at(proven, 3 * MINUTE)).toBe(6 * MINUTE);
    expect(at(tripped, 7 * MINUTE)).toBe(21 * MINUTE);
    expect(at(CLOSED, 0)).toBe(Number.POSITIVE_INFINITY);
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
