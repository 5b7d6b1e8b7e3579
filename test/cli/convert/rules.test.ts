import { describe, expect, it } from "vitest";
import { ruleProblems } from "#cli/convert/rules.ts";
import type { JsonObject } from "#core/lib/json.ts";

const nodeClass = (spec: object): JsonObject => ({
  apiVersion: "karpenter.k8s.aws/v1",
  kind: "EC2NodeClass",
  metadata: { name: "default" },
  spec: {
    amiSelectorTerms: [{ alias: "al2023@latest" }],
    subnetSelectorTerms: [{ id: "subnet-1" }],
    securityGroupSelectorTerms: [{ id: "sg-1" }],
    ...spec,
  },
});

describe("an EC2NodeClass that an API server would refuse", () => {
  it.for([
    { name: "nothing", spec: {}, says: [] },
    {
      name: "an id beside tags in any image term",
      spec: { amiFamily: "AL2", amiSelectorTerms: [{ id: "ami-1", tags: { a: "b" } }, { id: "ami-2" }] },
      says: ["spec.amiSelectorTerms[0]: id stands alone"],
    },
    {
      name: "an id beside tags in one of two subnet terms is taken",
      spec: { subnetSelectorTerms: [{ id: "subnet-1", tags: { a: "b" } }, { id: "subnet-2" }] },
      says: [],
    },
    {
      name: "but not in all of them",
      spec: { subnetSelectorTerms: [{ id: "subnet-1", tags: { a: "b" } }] },
      says: ["spec.subnetSelectorTerms[0]: id stands alone"],
    },
    {
      name: "a group's name beside tags",
      spec: { securityGroupSelectorTerms: [{ name: "n", tags: { a: "b" } }] },
      says: ["name stands alone"],
    },
    {
      name: "an alias beside another term",
      spec: { amiSelectorTerms: [{ alias: "al2@latest" }, { id: "ami-1" }] },
      says: ["an alias is the only term"],
    },
    { name: "images without a family", spec: { amiSelectorTerms: [{ id: "ami-1" }] }, says: ["spec.amiFamily is missing"] },
    { name: "a term that selects nothing", spec: { subnetSelectorTerms: [{}] }, says: ["spec.subnetSelectorTerms[0] selects nothing"] },
    { name: "a tag without a value", spec: { subnetSelectorTerms: [{ tags: { a: "" } }] }, says: ["empty key or value"] },
    {
      name: "resources that cannot be reserved",
      spec: { kubelet: { kubeReserved: { pods: "1" } } },
      says: ["kubeReserved: pods is none of cpu"],
    },
    {
      name: "a soft eviction without a grace period",
      spec: { kubelet: { evictionSoft: { "memory.available": "5%" } } },
      says: ["needs one in evictionSoftGracePeriod"],
    },
    {
      name: "equal thresholds, which v1alpha5 took",
      spec: { kubelet: { imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 80 } },
      says: ["must be greater than imageGCLowThresholdPercent"],
    },
    {
      name: "a volume of no size",
      spec: { blockDeviceMappings: [{ deviceName: "/dev/xvda", ebs: {} }] },
      says: ["needs a volumeSize or a snapshotID"],
    },
    {
      name: "two root volumes",
      spec: { blockDeviceMappings: [{ rootVolume: true }, { rootVolume: true }] },
      says: ["at most one can be the root volume"],
    },
  ])("$name", ({ spec, says }) => {
    expect(ruleProblems(nodeClass(spec))).toEqual(says.map((text) => expect.stringContaining(text)));
  });
});

it("a NodePool whose budget has a schedule without a duration is refused", () => {
  const pool = { kind: "NodePool", spec: { disruption: { budgets: [{ nodes: "0", schedule: "@daily" }, { nodes: "1" }] } } };
  expect(ruleProblems(pool)).toEqual([expect.stringContaining("spec.disruption.budgets[0]: schedule and duration need each other")]);
});

it("a NodeClaim with requirements that no node can meet is refused", () => {
  const claim = {
    kind: "NodeClaim",
    spec: {
      requirements: [
        { key: "a", operator: "In", values: [] },
        { key: "b", operator: "Exists" },
      ],
    },
  };
  expect(ruleProblems(claim)).toEqual([expect.stringContaining("spec.requirements: key a with operator In must list")]);
});
