import { describe, expect, it } from "vitest";
import type { EC2NodeClass, ResolvedReservation } from "#core/model/node-class.ts";
import { nodeClassHash } from "#core/node-class/hash.ts";
import { instanceProfileOf } from "#core/node-class/instance-profile.ts";
import { launchReadiness, notReadyMessage } from "#core/node-class/readiness.ts";
import { type Findings, nodeClassStatus } from "#core/node-class/status.ts";

const NOW = Date.parse("2026-11-21T00:00:00Z");

function nodeClass(spec: Partial<EC2NodeClass["spec"]> = {}, status: EC2NodeClass["status"] = {}): EC2NodeClass {
  return {
    metadata: { name: "default", uid: "u", generation: 2 },
    spec: {
      subnetSelectorTerms: [],
      securityGroupSelectorTerms: [],
      amiSelectorTerms: [{ alias: "al2023@latest" }],
      role: "node",
      ...spec,
    },
    status,
  };
}

const reservation: ResolvedReservation = {
  ...{ id: "cr-1", availabilityZone: "z", instanceType: "m5.large", instanceMatchCriteria: "open", ownerID: "1" },
  ...{ reservationType: "default", interruptible: false, state: "active" },
};

const findings: Findings = {
  capacityReservations: [reservation],
  placementGroup: "none",
  amis: [{ id: "ami-1", requirements: [] }],
  subnets: [
    { id: "subnet-b", zone: "z", zoneId: "1", availableIps: 5 },
    { id: "subnet-a", zone: "z", zoneId: "1", availableIps: 5 },
    { id: "subnet-c", zone: "z", zoneId: "1", availableIps: 9 },
  ],
  securityGroups: [
    { id: "sg-2", name: "b" },
    { id: "sg-1", name: "a" },
  ],
  instanceProfile: "p",
  serviceCidr: "10.0.0.0/16",
};

function reasons(made: EC2NodeClass, found: Findings): Readonly<Record<string, string>> {
  const { conditions = [] } = nodeClassStatus(made, found, NOW);
  return Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]));
}

describe("nodeClassStatus", () => {
  it.for([
    { kubelet: { maxpods: 4 }, reason: "InvalidKubeletConfiguration" },
    { kubelet: { podsPerCore: 4 }, reason: "UnsupportedKubeletConfiguration" },
    { kubelet: { maxPods: "vcpu" }, reason: "KubeletExpressionInvalid" },
  ])("a NodeClass whose kubelet is $kubelet does not succeed its validation", ({ kubelet, reason }) => {
    const made = nodeClass({ amiSelectorTerms: [{ alias: "bottlerocket@latest" }], kubelet });
    expect(reasons(made, findings)).toMatchObject({ ValidationSucceeded: `False ${reason}`, Ready: expect.stringContaining("False") });
  });

  it("types without a value are named beside ValidationSucceeded, which is False when no type is left", () => {
    const some = nodeClassStatus(nodeClass(), { ...findings, kubeletFailures: { all: false, message: "m" } }, NOW).conditions;
    expect(some).toContainEqual(expect.objectContaining({ type: "ValidationSucceeded", status: "True", message: "m" }));
    expect(reasons(nodeClass(), { ...findings, kubeletFailures: { all: true, message: "m" } })).toMatchObject({
      ValidationSucceeded: "False KubeletExpressionEvaluationFailed",
    });
  });

  it("a NodeClass is Ready when everything is found; subnets are ordered by free addresses", () => {
    const status = nodeClassStatus(nodeClass(), findings, NOW);
    expect(status.subnets?.map(({ id }) => id)).toEqual(["subnet-c", "subnet-a", "subnet-b"]);
    expect(status.securityGroups?.map(({ id }) => id)).toEqual(["sg-1", "sg-2"]);
    expect(status.instanceProfile).toBe("p");
    expect(status.conditions?.every((condition) => condition.status === "True" && condition.observedGeneration === 2)).toBe(true);
    expect(status.conditions?.at(-1)?.type).toBe("Ready");
    expect(launchReadiness(nodeClass({}, status))).toBeUndefined();
  });

  it("a status lists reservations and their condition only while the feature gate is on", () => {
    const status = nodeClassStatus(nodeClass(), findings, NOW);
    expect(status.capacityReservations).toEqual([reservation]);
    const off = nodeClassStatus(nodeClass({}, status), { capacityReservations: "off", serviceCidr: "10.0.0.0/16" }, NOW);
    expect(off).not.toHaveProperty("capacityReservations");
    expect(off.conditions?.map(({ type }) => type)).not.toContain("CapacityReservationsReady");
    expect(off.conditions?.find(({ type }) => type === "Ready")?.status).toBe("True");
  });

  it("a status keeps its placement group while the lookup fails, and drops it when the spec does", () => {
    const group = { id: "pg-1", strategy: "cluster" } as const;
    const asking = nodeClass({ placementGroupSelector: { id: "pg-1" } });
    const status = nodeClassStatus(asking, { ...findings, placementGroup: group }, NOW);
    const groupThen = (placementGroup: NonNullable<Findings["placementGroup"]>) =>
      nodeClassStatus({ ...asking, status }, { placementGroup, serviceCidr: "10.0.0.0/16" }, NOW).placementGroup;
    expect(groupThen({ error: "throttled" })).toEqual(group);
    expect(groupThen("none")).toBeUndefined();
  });

  it("a status is unchanged when nothing was looked up and nothing has changed", () => {
    const status = nodeClassStatus(nodeClass(), findings, NOW);
    expect(nodeClassStatus(nodeClass({}, status), { serviceCidr: "10.0.0.0/16" }, NOW + 60_000)).toEqual(status);
  });

  it.for<{ name: string; found: Findings; spec?: Partial<EC2NodeClass["spec"]>; want: Record<string, string> }>([
    {
      name: "no image",
      found: { amis: [] },
      want: { AMIsReady: "False AMINotFound", ValidationSucceeded: "False DependenciesNotReady", Ready: "False UnhealthyDependents" },
    },
    { name: "an alias that ended", found: { amis: { unsupported: "m" } }, want: { AMIsReady: "False UnsupportedAlias" } },
    { name: "no subnet", found: { subnets: [] }, want: { SubnetsReady: "False SubnetsNotFound" } },
    { name: "no group", found: { securityGroups: [] }, want: { SecurityGroupsReady: "False SecurityGroupsNotFound" } },
    {
      name: "an instance profile that could not be created",
      found: { instanceProfile: { error: "m" } },
      want: {
        InstanceProfileReady: "Unknown LookupFailed",
        ValidationSucceeded: "Unknown DependenciesNotReady",
        Ready: "Unknown ReconcilingDependents",
      },
    },
    {
      name: "a missing placement group",
      found: { placementGroup: "missing" },
      spec: { placementGroupSelector: { name: "team" } },
      want: { PlacementGroupReady: "False PlacementGroupNotFound", Ready: "False UnhealthyDependents" },
    },
    {
      name: "no reservation, which is valid",
      found: { capacityReservations: [] },
      want: { CapacityReservationsReady: "True CapacityReservationsReady", Ready: "True Ready" },
    },
    {
      name: "a tag that the system sets",
      found: {},
      spec: { tags: { "karpenter.sh/nodepool": "x" } },
      want: { ValidationSucceeded: "False TagValidationFailed" },
    },
  ])("a status says what is missing: $name", ({ found, spec, want }) => {
    expect(reasons(nodeClass(spec), { ...findings, ...found })).toMatchObject(want);
  });

  it.for<{ name: string; found: Findings; want: string }>([
    {
      name: "a cause",
      found: { subnets: [] },
      want: "(SubnetsReady): no subnet matches spec.subnetSelectorTerms; correct the terms, or tag the subnets",
    },
    {
      name: "a False cause before one that is not known",
      found: { subnets: { error: "throttled" }, amis: { unsupported: "there are no such images; use others" } },
      want: "(AMIsReady): there are no such images; use others",
    },
  ])("an EC2NodeClass that is not ready is named with its cause and fix: $name", ({ found, want }) => {
    const made = nodeClass();
    const message = notReadyMessage({ ...made, status: nodeClassStatus(made, { ...findings, ...found }, NOW) });
    expect(message).toBe(`EC2NodeClass default is not ready ${want}`);
  });

  it("only AL2023 needs a service network", () => {
    const { serviceCidr: _, ...without } = findings;
    expect(reasons(nodeClass(), without)).toMatchObject({ ValidationSucceeded: "False ClusterCIDRResolutionFailed" });
    expect(reasons(nodeClass({ amiSelectorTerms: [{ alias: "bottlerocket@latest" }] }), without)).toMatchObject({ Ready: "True Ready" });
  });

  it("a status keeps an answer of this generation when a lookup fails, and none of another generation", () => {
    const status = nodeClassStatus(nodeClass(), findings, NOW);
    const failed: Findings = { subnets: { error: "throttled" }, serviceCidr: "10.0.0.0/16" };
    expect(reasons(nodeClass({}, status), failed)).toMatchObject({ SubnetsReady: "True SubnetsReady", Ready: "True Ready" });
    const changed = { ...nodeClass({}, status), metadata: { name: "default", generation: 3 } };
    expect(reasons(changed, failed)).toMatchObject({ SubnetsReady: "Unknown LookupFailed" });
  });
});

describe("nodeClassHash", () => {
  const hash = (spec: Partial<EC2NodeClass["spec"]> = {}): string => nodeClassHash(nodeClass(spec), "ca");

  it.for<{ name: string; spec: Partial<EC2NodeClass["spec"]>; same: boolean }>([
    { name: "userData", spec: { userData: "x" }, same: false },
    { name: "a tag", spec: { tags: { a: "b" } }, same: false },
    { name: "the family", spec: { amiFamily: "Custom" }, same: false },
    { name: "kubelet settings", spec: { kubelet: { maxPods: 3 } }, same: false },
    { name: "a kubelet setting to false", spec: { kubelet: { serializeImagePulls: false } }, same: false },
    { name: "a kubelet setting to zero", spec: { kubelet: { podsPerCore: 0 } }, same: true },
    { name: "selectors", spec: { subnetSelectorTerms: [{ id: "subnet-1" }], amiSelectorTerms: [{ alias: "al2023@v1" }] }, same: true },
    { name: "enclaves", spec: { enclaveOptions: { enabled: true } }, same: false },
    { name: "no enclaves, spelt out", spec: { enclaveOptions: { enabled: false } }, same: true },
    { name: "zero values", spec: { detailedMonitoring: false, tags: {}, blockDeviceMappings: [] }, same: true },
    { name: "the defaults, spelt out", spec: { metadataOptions: { httpTokens: "required" } }, same: true },
  ])("the hash of a NodeClass after a change of $name is the same: $same", ({ spec, same }) => {
    expect(hash(spec) === hash()).toBe(same);
  });

  it("the hash of a NodeClass takes lists as sets and includes the cluster's CA", () => {
    const a = { deviceName: "/a", ebs: { volumeSize: "1Gi" } };
    const b = { deviceName: "/b", ebs: { volumeSize: "1Gi" } };
    expect(hash({ blockDeviceMappings: [a, b] })).toBe(hash({ blockDeviceMappings: [b, a] }));
    expect(nodeClassHash(nodeClass(), "other")).not.toBe(hash());
  });
});

it("an instance profile is named by NodeClass and role", () => {
  const profile = instanceProfileOf(nodeClass(), "team/node-role", "prod", "us-west-2");
  expect(profile).toMatchObject({
    name: expect.stringMatching(/^prod_[0-9a-f]{16}$/),
    path: "/karpenter/us-west-2/prod/u/",
    role: "node-role",
  });
  expect(instanceProfileOf(nodeClass(), "other", "prod", "us-west-2").name).not.toBe(profile.name);
});
