import { describe, expect, it } from "vitest";
import type { InstanceType } from "#core/model/instance-type.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { withInFlight } from "#core/provisioning/in-flight.ts";
import { solve } from "#core/scheduling/solve.ts";
import { INSTANCE, NOW, nodeClaim, record } from "../../support/builders.ts";
import { CATALOGUE, nodeWithClaim, pod as pending, snapshotOf } from "../../support/scheduling/builders.ts";

const type = (name: string, cpu: string, memory: string): InstanceType => ({
  name,
  requirements: [],
  capacity: { cpu, memory, pods: "10" },
  overhead: {},
  offerings: [],
});

const snapshot = (change: Partial<Snapshot> = {}): Snapshot => ({
  ...{ now: NOW, nodePools: [], nodes: [], nodeClaims: [], pods: [], daemonSets: [], podDisruptionBudgets: [] },
  ...{ persistentVolumeClaims: [], persistentVolumes: [], storageClasses: [], csiNodes: [], namespaces: [] },
  instanceTypes: new Map([["default", [type("small", "2", "4Gi"), type("large", "4", "3Gi"), type("other", "1", "1Gi")]]]),
  nominated: new Map(),
  disrupting: new Set(),
  ...change,
});

const waiting = record({ instanceTypes: ["small", "large"] });

describe("a NodeClaim in flight", () => {
  it("a NodeClaim in flight counts with the smallest allocatable and the largest capacity of its types", () => {
    const [claim] = withInFlight(snapshot(), [waiting]).nodeClaims;
    expect(claim?.status).toMatchObject({
      allocatable: { cpu: "2", memory: "3Gi", pods: "10" },
      capacity: { cpu: "4", memory: "4Gi", pods: "10" },
    });
    expect(claim?.metadata.labels).toMatchObject({ "karpenter.sh/nodepool": "default" });
  });

  it.for([
    { name: "are pending", from: {} },
    { name: "are bound to another node", from: { nodeName: "n1" } },
  ])("a NodeClaim in flight has its pods' requests subtracted once, while they $name", ({ from }) => {
    const going = nodeWithClaim("n1");
    const seen = snapshotOf({
      instanceTypes: CATALOGUE.filter(({ name }) => name === "m.medium"),
      nodes: [going.node],
      nodeClaims: [{ ...going.claim, metadata: { ...going.claim.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }],
      pods: [pending("nominated", { cpu: "1" }, from), pending("fits", { cpu: "2500m" }), pending("does-not", { cpu: "1" })],
    });
    const meant = record({ instanceTypes: ["m.medium"], podUids: ["uid-nominated"] });
    const plan = solve(withInFlight({ ...seen, nominated: new Map([["uid-nominated", meant.name]]) }, [meant]));
    expect(plan.existingNodes).toEqual([{ name: meant.name, pods: ["default/fits"] }]);
    expect(plan.newNodeClaims).toMatchObject([{ pods: ["default/does-not"] }]);
  });

  it("a launched NodeClaim counts as its instance before its status names it", () => {
    const launched = { ...waiting, instance: { ...INSTANCE, instanceType: "large" } };
    const [shown] = withInFlight(snapshot(), [launched]).nodeClaims;
    expect(shown?.status).toMatchObject({ providerID: `aws:///${INSTANCE.zone}/${INSTANCE.id}`, allocatable: { cpu: "4", memory: "3Gi" } });
    expect(shown?.metadata.labels).toMatchObject({
      "node.kubernetes.io/instance-type": "large",
      "topology.kubernetes.io/zone": INSTANCE.zone,
    });

    const published = { ...nodeClaim(), metadata: { name: waiting.name }, status: { providerID: "aws:///a/i-1" } };
    expect(withInFlight(snapshot({ nodeClaims: [published] }), [launched]).nodeClaims).toEqual([published]);
  });

  it("a NodeClaim that we have made counts until it is adopted, when its record is lost before its launch", () => {
    const { manifest, name } = waiting;
    const requirements = [{ key: "node.kubernetes.io/instance-type", operator: "In" as const, values: ["small", "large"] }];
    const metadata = { name, labels: { "karpenter.sh/nodepool": "default" }, annotations: { "karpenter-serverless/intent": "an-intent" } };
    const lost = { ...manifest, metadata, spec: { ...manifest.spec, requirements } };
    const shown = (claim: NodeClaim) => withInFlight(snapshot({ nodeClaims: [claim] }), []).nodeClaims[0]?.status;
    expect(shown(lost)).toMatchObject({ allocatable: { cpu: "2", memory: "3Gi" }, capacity: { cpu: "4", memory: "4Gi" } });
    expect(shown({ ...lost, metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } })).toBeUndefined();
    // Whether a NodeClaim of a user is adopted is not known before its record is made.
    expect(shown({ ...lost, metadata: { ...metadata, annotations: {} } })).toBeUndefined();
  });

  it("a NodeClaim that terminates is no longer in flight", () => {
    const going = { ...waiting, terminating: { reason: "expired", at: NOW } };
    expect(withInFlight(snapshot(), [going]).nodeClaims).toEqual([]);
  });
});
