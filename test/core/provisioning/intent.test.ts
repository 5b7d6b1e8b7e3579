import { describe, expect, it } from "vitest";
import type { InstanceType } from "#core/model/instance-type.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import type { PlannedNodeClaim } from "#core/model/plan.ts";
import { intentFor } from "#core/provisioning/intent.ts";
import { NOW } from "../../support/builders.ts";
import { instanceType } from "../../support/scheduling/builders.ts";

const pool: NodePool = {
  metadata: { name: "default", uid: "pool-uid" },
  spec: {
    template: {
      metadata: { labels: { team: "a" }, annotations: { note: "b" } },
      spec: {
        requirements: [],
        startupTaints: [{ key: "cni", effect: "NoSchedule" }],
        nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "own" },
        expireAfter: "72h",
        terminationGracePeriod: "1h",
      },
    },
  },
};

const planned: PlannedNodeClaim = {
  nodePool: "default",
  requirements: [
    { key: "karpenter.sh/capacity-type", operator: "In", values: ["spot"] },
    { key: "node.kubernetes.io/instance-type", operator: "Exists", minValues: 2 },
  ],
  taints: [{ key: "gpu", effect: "NoSchedule" }],
  labels: { shard: "7" },
  instanceTypes: ["m5.large", "m5.xlarge"],
  requests: { cpu: "1" },
  pods: ["default/web"],
  pricePerHour: 0.05,
};

const FACTS = { cluster: "c1", id: "0123456789abcdef", name: "default-x7k2p", now: NOW, podUids: ["u"] } as const;
const intent = intentFor(planned, pool, { ...FACTS, reason: "provisioned" });

describe("an intent", () => {
  it("an intent has labels, annotations and owner of its NodePool", () => {
    const { metadata } = intent.manifest;
    expect(metadata.labels).toEqual({ team: "a", shard: "7", "karpenter.sh/nodepool": "default", "karpenter.k8s.aws/ec2nodeclass": "own" });
    expect(metadata.annotations).toMatchObject({
      note: "b",
      "karpenter.sh/nodepool-hash-version": "v3",
      "karpenter.sh/nodeclaim-min-values-relaxed": "false",
    });
    expect(metadata.ownerReferences).toEqual([
      { apiVersion: "karpenter.sh/v1", kind: "NodePool", name: "default", uid: "pool-uid", blockOwnerDeletion: true },
    ]);
  });

  it("an intent says whether overlays changed its possible types", () => {
    const type = instanceType("m5.large", 2, 8);
    const offerings = type.offerings.map((offering) => ({ ...offering, priceOverlaid: true as const }));
    const facts = { ...FACTS, reason: "provisioned" as const };
    const annotationsWith = (types: readonly InstanceType[]) =>
      Object.keys(intentFor(planned, pool, { ...facts, instanceTypes: types }).manifest.metadata.annotations ?? {});
    expect(annotationsWith([{ ...type, offerings, capacityOverlaid: true }])).toEqual(
      expect.arrayContaining(["karpenter.sh/price-overlay-applied", "karpenter.sh/capacity-overlay-applied"]),
    );
    expect(annotationsWith([type, { ...type, name: "c5.large", offerings }]).filter((key) => key.includes("overlay"))).toEqual([]);
  });

  it("an intent lists the planned types, keeps minValues, and copies expireAfter and terminationGracePeriod", () => {
    const { spec } = intent.manifest;
    expect(spec.requirements).toEqual([
      { key: "karpenter.sh/capacity-type", operator: "In", values: ["spot"] },
      { key: "karpenter.sh/nodepool", operator: "In", values: ["default"] },
      { key: "node.kubernetes.io/instance-type", operator: "In", values: ["m5.large", "m5.xlarge"], minValues: 2 },
    ]);
    expect(spec).toMatchObject({
      taints: planned.taints,
      startupTaints: [{ key: "cni", effect: "NoSchedule" }],
      expireAfter: "72h",
      terminationGracePeriod: "1h",
      resources: { requests: { cpu: "1" } },
    });
  });
});
