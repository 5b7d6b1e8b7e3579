import { describe, expect, it } from "vitest";
import { failureReason } from "#core/launch/failure.ts";
import { type LaunchOutcome, readOutcome } from "#core/launch/outcome.ts";
import type { FleetRequest, FleetResult } from "#core/model/fleet.ts";
import { nodeClassHash } from "#core/node-class/hash.ts";
import { claim, cluster, nodeClass, typesOf } from "./support.ts";

const NOW = 1_000_000;
const instanceTypes = typesOf();
const request: FleetRequest = {
  clientToken: "t",
  capacityType: "spot",
  launchTemplates: [
    {
      name: "a",
      overrides: [{ instanceType: "m5.large", subnetId: "subnet-us-west-2a", zone: "us-west-2a", imageId: "ami-amd", price: 1 }],
    },
  ],
  tags: {},
};
const instance = {
  id: "i-1",
  instanceType: "m5.large",
  zone: "us-west-2a",
  capacityType: "spot",
  imageId: "ami-amd",
  subnetId: "subnet-us-west-2a",
} as const;
const ice = {
  code: "InsufficientInstanceCapacity",
  message: "no capacity",
  instanceType: "m5.large",
  zone: "us-west-2b",
  capacityType: "spot",
} as const;

function outcome(result: FleetResult, labels?: Readonly<Record<string, string>>): LaunchOutcome {
  const made = labels ? claim({ metadata: { labels } }) : claim();
  return readOutcome(request, result, NOW, { claim: made, nodeClass: nodeClass(), instanceTypes, caBundle: cluster.caBundle });
}

describe("readOutcome", () => {
  it("a launch gives the NodeClaim its providerID, capacity, labels and annotations", () => {
    const { launched, unavailable, failure } = outcome({ instance, errors: [] });
    expect(unavailable).toEqual([]);
    expect(failure).toBeUndefined();
    expect(launched).toMatchObject({
      providerID: "aws:///us-west-2a/i-1",
      imageID: "ami-amd",
      capacity: { cpu: "2", memory: "7577Mi", pods: "29" },
      allocatable: { cpu: "1930m", memory: "6903Mi", pods: "29", "ephemeral-storage": "17Gi", "vpc.amazonaws.com/pod-eni": "9" },
      labels: {
        "node.kubernetes.io/instance-type": "m5.large",
        "topology.kubernetes.io/zone": "us-west-2a",
        "topology.kubernetes.io/region": "us-west-2",
        "topology.k8s.aws/zone-id": "usw2-az2",
        "karpenter.sh/capacity-type": "spot",
        "karpenter.sh/nodepool": "default",
        "karpenter.k8s.aws/instance-category": "m",
        "karpenter.k8s.aws/instance-hypervisor": "nitro",
        "karpenter.k8s.aws/instance-pods": "29",
        "karpenter.k8s.aws/instance-tenancy": "default",
        "kubernetes.io/arch": "amd64",
        team: "a",
      },
      annotations: {
        "karpenter.k8s.aws/ec2nodeclass-hash": nodeClassHash(nodeClass(), cluster.caBundle),
        "karpenter.k8s.aws/ec2nodeclass-hash-version": "karpenter-serverless/v1",
        "karpenter.k8s.aws/instance-profile-name": "prod_1",
      },
    });
    expect(launched?.capacity).not.toHaveProperty("nvidia.com/gpu");
    expect(launched?.labels).not.toHaveProperty("karpenter.k8s.aws/instance-gpu-count");
  });

  it("a NodeClaim's own labels win over the instance's", () => {
    expect(outcome({ instance, errors: [] }, { "karpenter.k8s.aws/instance-category": "x" }).launched?.labels).toMatchObject({
      "karpenter.k8s.aws/instance-category": "x",
    });
  });

  it("offerings without capacity are marked for three minutes, also beside a launched instance", () => {
    const mark = { instanceType: "m5.large", zone: "us-west-2b", capacityType: "spot", expiresAt: NOW + 180_000 };
    const cause = { code: ice.code, message: ice.message };
    expect(outcome({ instance, errors: [ice, ice] }).unavailable).toEqual([{ ...mark, cause }]);
    const [long] = outcome({ errors: [{ ...ice, message: "x".repeat(5_000) }] }).unavailable;
    expect(long?.cause?.message).toHaveLength(300);
    const bySubnet = {
      code: "UnfulfillableCapacity",
      message: "m",
      instanceType: "m5.large",
      subnetId: "subnet-us-west-2a",
      capacityType: "spot",
    } as const;
    expect(outcome({ errors: [bySubnet] }).unavailable).toEqual([
      { ...mark, zone: "us-west-2a", cause: { code: "UnfulfillableCapacity", message: "m" } },
    ]);
    const full = { code: "InsufficientFreeAddressesInSubnet", message: "m", subnetId: "subnet-9", capacityType: "spot" } as const;
    expect(outcome({ errors: [full] }).unavailable).toEqual([
      { ...mark, instanceType: "*", zone: "subnet-9", cause: { code: "InsufficientFreeAddressesInSubnet", message: "m" } },
    ]);
    const role = { code: "AuthFailure.ServiceLinkedRoleCreationNotPermitted", message: "m", capacityType: "spot" } as const;
    expect(outcome({ errors: [role] })).toMatchObject({
      unavailable: [{ instanceType: "*", zone: "*", capacityType: "spot" }],
      failure: { kind: "InsufficientCapacity", reason: "SpotSLRCreationFailed" },
    });
  });

  it.for([
    { errors: [ice], kind: "InsufficientCapacity" },
    { errors: [{ ...ice, code: "SpotMaxPriceTooLow" }], kind: "InsufficientCapacity" },
    { errors: [ice, { code: "UnauthorizedOperation", message: "no", capacityType: "spot" as const }], kind: "CreateError" },
    { errors: [], kind: "CreateError" },
  ])("no instance and $errors are a $kind", ({ errors, kind }) => {
    expect(outcome({ errors }).failure?.kind).toBe(kind);
  });
});

it.for([
  ["UnauthorizedOperation: You are not authorized", "Unauthorized"],
  ["InvalidAMIID.NotFound: gone", "AMINotFound"],
  ["VcpuLimitExceeded: x; MaxSpotInstanceCountExceeded: y", "SpotQuotaExceeded"],
  ["SomethingElse: x", "LaunchFailed"],
])("the error %s has the reason %s", ([message, reason]) => {
  expect(failureReason(message ?? "")).toBe(reason);
});
