import { expect, it } from "vitest";
import { type DriftInput, driftReason } from "#core/drift/detect.ts";
import type { InstanceType } from "#core/model/instance-type.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import type { NodePool } from "#core/model/node-pool.ts";

const NOW = Date.parse("2026-01-02T00:00:00Z");
const POOL = "karpenter.sh/nodepool-hash";
const CLASS = "karpenter.k8s.aws/ec2nodeclass-hash";

function claim(
  parts: { annotations?: Record<string, string>; labels?: Record<string, string>; creationTimestamp?: string; launched?: boolean } = {},
): NodeClaim {
  const { annotations = {}, labels = {}, creationTimestamp = "2026-01-01T00:00:00Z", launched = true } = parts;
  return {
    metadata: {
      name: "c",
      creationTimestamp,
      annotations: { [POOL]: "1", [`${POOL}-version`]: "v3", [CLASS]: "1", [`${CLASS}-version`]: "v4", ...annotations },
      labels: {
        "node.kubernetes.io/instance-type": "m5.large",
        "karpenter.sh/capacity-type": "spot",
        "topology.kubernetes.io/zone": "a",
        "kubernetes.io/arch": "amd64",
        ...labels,
      },
    },
    spec: { requirements: [], nodeClassRef: { group: "g", kind: "k", name: "n" } },
    status: { imageID: "ami-1", conditions: launched ? [{ type: "Launched", status: "True" }] : [] },
  };
}

function pool(requirements: NodePool["spec"]["template"]["spec"]["requirements"] = [], hash = "1", version = "v3"): NodePool {
  return {
    metadata: { name: "p", annotations: { [POOL]: hash, [`${POOL}-version`]: version } },
    spec: { template: { spec: { requirements, nodeClassRef: { group: "g", kind: "k", name: "n" } } } },
  };
}

function nodeClass(status: EC2NodeClass["status"] = {}, hash = "1"): EC2NodeClass {
  return {
    metadata: { name: "n", annotations: { [CLASS]: hash, [`${CLASS}-version`]: "v4" } },
    spec: { subnetSelectorTerms: [], securityGroupSelectorTerms: [], amiSelectorTerms: [] },
    status,
  };
}

const m5: InstanceType = {
  name: "m5.large",
  requirements: [{ key: "kubernetes.io/arch", operator: "In", values: ["amd64"] }],
  capacity: {},
  overhead: {},
  offerings: [{ zone: "a", capacityType: "spot", price: 0, available: false }],
};

const GROUPED = {
  placementGroup: { id: "pg-1", strategy: "spread" as const },
  conditions: [{ type: "PlacementGroupReady", status: "True" as const }],
};

const amd64 = [{ key: "kubernetes.io/arch", operator: "In" as const, values: ["amd64"] }];
const arm64 = [{ key: "kubernetes.io/arch", operator: "In" as const, values: ["arm64"] }];

it.for<{ name: string; input: Partial<DriftInput>; want: string | undefined }>([
  { name: "nothing has changed", input: {}, want: undefined },
  { name: "the claim is not launched", input: { claim: claim({ launched: false }), nodePool: pool([], "2") }, want: undefined },
  { name: "the pool's template changed", input: { nodePool: pool([], "2") }, want: "NodePoolDrifted" },
  { name: "the pool's hash is of another version", input: { nodePool: pool([], "2", "v4") }, want: undefined },
  { name: "the requirements narrowed", input: { nodePool: pool(arm64) }, want: "RequirementsDrifted" },
  {
    name: "the requirements need a label that the claim lacks",
    input: { nodePool: pool([{ key: "team", operator: "Exists" }]) },
    want: "RequirementsDrifted",
  },
  {
    name: "the requirements exclude a label that the claim lacks",
    input: { nodePool: pool([{ key: "team", operator: "DoesNotExist" }]) },
    want: undefined,
  },
  { name: "the instance type is not offered", input: { instanceTypes: [] }, want: "InstanceTypeNotFound" },
  {
    name: "the instance type is not offered, to a claim younger than an hour",
    input: { claim: claim({ creationTimestamp: "2026-01-01T23:30:00Z" }), instanceTypes: [] },
    want: undefined,
  },
  {
    name: "the instance type is offered in another zone only",
    input: { claim: claim({ labels: { "topology.kubernetes.io/zone": "b" } }) },
    want: "InstanceTypeNotFound",
  },
  { name: "the class changed", input: { nodeClass: nodeClass({}, "2") }, want: "NodeClassDrift" },
  { name: "the class does not exist", input: { nodeClass: undefined }, want: undefined },
  { name: "there is a newer image", input: { nodeClass: nodeClass({ amis: [{ id: "ami-2", requirements: amd64 }] }) }, want: "AMIDrift" },
  {
    name: "its image is for another architecture",
    input: { nodeClass: nodeClass({ amis: [{ id: "ami-1", requirements: arm64 }] }) },
    want: "AMIDrift",
  },
  {
    name: "its image is among several",
    input: { nodeClass: nodeClass({ amis: ["ami-2", "ami-1"].map((id) => ({ id, requirements: amd64 })) }) },
    want: undefined,
  },
  {
    name: "the security groups changed",
    input: { nodeClass: nodeClass({ securityGroups: [{ id: "sg-1" }, { id: "sg-2" }] }), instance: { securityGroupIds: ["sg-1"] } },
    want: "SecurityGroupDrift",
  },
  {
    name: "the security groups are in another order",
    input: { nodeClass: nodeClass({ securityGroups: [{ id: "sg-1" }, { id: "sg-2" }] }), instance: { securityGroupIds: ["sg-2", "sg-1"] } },
    want: undefined,
  },
  {
    name: "its subnet is no longer selected",
    input: { nodeClass: nodeClass({ subnets: [{ id: "s-2", zone: "a" }] }), instance: { subnetId: "s-1" } },
    want: "SubnetDrift",
  },
  {
    name: "its reservation is no longer selected, or has ended",
    input: { nodeClass: nodeClass({ capacityReservations: [] }), instance: { reservationId: "cr-1" } },
    want: "CapacityReservationDrift",
  },
  { name: "reservations are not looked up", input: { instance: { reservationId: "cr-1" } }, want: undefined },
  { name: "the class has a placement group now", input: { nodeClass: nodeClass(GROUPED) }, want: "PlacementGroupDrift" },
  {
    name: "the instance is in the placement group",
    input: { nodeClass: nodeClass(GROUPED), claim: claim({ labels: { "karpenter.k8s.aws/placement-group-id": "pg-1" } }) },
    want: undefined,
  },
  {
    name: "the class has no placement group any more",
    input: {
      nodeClass: nodeClass({ conditions: GROUPED.conditions }),
      claim: claim({ labels: { "karpenter.k8s.aws/placement-group-id": "pg-1" } }),
    },
    want: "PlacementGroupDrift",
  },
  { name: "its subnet is not known", input: { nodeClass: nodeClass({ subnets: [{ id: "s-2", zone: "a" }] }) }, want: undefined },
])("$name: $want", ({ input, want }) => {
  expect(driftReason({ claim: claim(), nodePool: pool(), nodeClass: nodeClass(), instanceTypes: [m5], now: NOW, ...input })).toBe(want);
});
