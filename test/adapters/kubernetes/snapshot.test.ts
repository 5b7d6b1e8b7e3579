import { describe, expect, it } from "vitest";
import { type ClusterReader, readSnapshot } from "#adapters/kubernetes/snapshot.ts";
import type { CommandRecord } from "#core/model/command-record.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import type { Kind, Kinds } from "#core/ports/kubernetes.ts";
import { command, record } from "../../contracts/node-claim-store/contract.ts";

const pool = (name: string, nodeClass: string): NodePool => ({
  metadata: { name },
  spec: { template: { spec: { requirements: [], nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: nodeClass } } } },
});
const nodeClass = (name: string): EC2NodeClass => ({
  metadata: { name },
  spec: { subnetSelectorTerms: [], securityGroupSelectorTerms: [], amiSelectorTerms: [] },
});

function read(objects: Partial<{ [K in Kind]: readonly Kinds[K][] }>, records: NodeClaimRecord[] = [], commands: CommandRecord[] = []) {
  const order: string[] = [];
  const list: ClusterReader["list"] = async (kind) => {
    order.push(`ask ${kind}`);
    await new Promise((done) => {
      setTimeout(done, kind === "NodeClaim" ? 20 : 1);
    });
    order.push(`got ${kind}`);
    return (objects[kind] ?? []) as never;
  };
  const snapshot = readSnapshot({
    kubernetes: { list },
    store: { list: async () => records, commands: async () => commands },
    cluster: "c1",
    now: 5,
    instanceTypesOf: (nodePool, { metadata }) => [
      { name: `${nodePool.metadata.name}-${metadata.name}`, requirements: [], capacity: {}, overhead: {}, offerings: [] },
    ],
  });
  return { order, snapshot };
}

describe("readSnapshot", () => {
  it("pods are read after all nodes and NodeClaims, and everything else at the same time", async () => {
    const { order, snapshot } = read({});
    await snapshot;
    expect(order.indexOf("ask Pod")).toBeGreaterThan(order.indexOf("got Node"));
    expect(order.indexOf("ask Pod")).toBeGreaterThan(order.indexOf("got NodeClaim"));
    expect(order.indexOf("ask DaemonSet")).toBeLessThan(order.indexOf("got Node"));
  });

  it("each NodePool gets the instance types of its class; those of another controller are kept apart", async () => {
    const other = pool("foreign", "a");
    const foreign: NodePool = {
      ...other,
      spec: { template: { spec: { requirements: [], nodeClassRef: { group: "karpenter.azure.com", kind: "AKSNodeClass", name: "a" } } } },
    };
    const { snapshot } = read({ NodePool: [pool("p1", "a"), pool("p2", "missing"), foreign], EC2NodeClass: [nodeClass("a")] });
    const { instanceTypes, nodeClasses, now, nodePools, otherPools = [] } = await snapshot;
    expect([nodePools.length, otherPools.map(({ metadata }) => metadata.name)]).toEqual([2, ["foreign"]]);
    expect([...instanceTypes].map(([name, types]) => [name, types.map((type) => type.name)])).toEqual([["p1", ["p1-a"]]]);
    expect([nodeClasses.length, now]).toEqual([1, 5]);
  });

  it("pods are nominated to the records that they were planned for, unless those are terminating", async () => {
    const launched = { id: "i-1", instanceType: "t", zone: "z", capacityType: "spot", imageId: "ami" } as const;
    const claim = { metadata: { name: "told" }, status: { providerID: "aws:///z/i-1" } } as NodeClaim;
    const { snapshot } = read({ NodeClaim: [claim] }, [
      record("waiting", { podUids: ["u1", "u2"] }),
      record("launched", { podUids: ["u3"], instance: launched }),
      record("told", { podUids: ["u5"], instance: launched }),
      record("going", { podUids: ["u4"], terminating: { reason: "r", at: 1 } }),
    ]);
    expect([...(await snapshot).nominated]).toEqual([
      ["u1", "waiting"],
      ["u2", "waiting"],
      ["u3", "launched"],
      ["u5", "told"],
    ]);
  });

  it("NodeClaims that a command replaces or deletes are disrupting, those that it only validates are not", async () => {
    const candidate = (nodeClaim: string) => ({
      ...{ nodeClaim, node: "n", nodePool: "p", instanceType: "t", capacityType: "spot", zone: "z", pricePerHour: 1, pods: [] },
    });
    const phases = ["Validating", "Replacing", "Deleting", "RollingBack"] as const;
    const commands = phases.map((phase) => command(phase, { phase, candidates: [candidate(`claim-${phase}`)] }));
    const { snapshot } = read({}, [], commands);
    expect([...(await snapshot).disrupting]).toEqual(["claim-Replacing", "claim-Deleting"]);
  });
});
