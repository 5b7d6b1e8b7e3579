import { describe, expect, it } from "vitest";
import { clientToken, type LaunchInput, renderLaunch } from "#core/launch/fleet-request.ts";
import type { NodeClaimSpec } from "#core/model/node-claim.ts";
import { claimName } from "#core/provisioning/claim-name.ts";
import { catalogue, claim, cluster, nodeClass, typesOf } from "./support.ts";

const all = typesOf();

function render(overrides: Partial<LaunchInput> = {}): ReturnType<typeof renderLaunch> {
  return renderLaunch({ claim: claim(), record: {}, nodeClass: nodeClass(), instanceTypes: all, cluster, attempt: 0, ...overrides });
}

function launched(overrides: Partial<LaunchInput> = {}) {
  const rendered = render(overrides);
  if (!("ok" in rendered)) throw new Error(`${rendered.error.reason}: ${rendered.error.message}`);
  return rendered.ok;
}

function overridesOf(overrides: Partial<LaunchInput> = {}) {
  return launched(overrides).request.launchTemplates.flatMap((template) => template.overrides);
}

function requirements(...more: NodeClaimSpec["requirements"]): Partial<LaunchInput> {
  return { claim: claim({ spec: { requirements: more } }) };
}

const amdOnly = () => nodeClass({ status: { amis: nodeClass().status?.amis?.filter(({ id }) => id === "ami-amd") ?? [] } });
const key = (name: string): string => `karpenter.k8s.aws/instance-${name}`;

describe("renderLaunch", () => {
  it("a machine has the name that its EC2NodeClass gives, if it gives one", () => {
    expect(launched({ nodeClass: nodeClass({ spec: { tags: { Name: "web" } } }) }).request.tags["Name"]).toBe("web");
  });

  it("enclaves are on in the templates of a NodeClass that asks for them, and their types support them", () => {
    const made = nodeClass({ spec: { enclaveOptions: { enabled: true } } });
    const { templates } = launched({ nodeClass: made, instanceTypes: typesOf({ nodeClass: made }) });
    expect(new Set(templates.map(({ enclaves }) => enclaves))).toEqual(new Set([true]));
    expect(launched().templates.some(({ enclaves }) => enclaves)).toBe(false);
  });

  it("one request for several NodeClaims names their group, their number and no NodeClaim, and their own zone first", () => {
    const group = { id: "g.1", count: 7, requests: { cpu: "3" }, zoneTurn: 1 };
    const { request } = launched({ group });
    expect(request).toMatchObject({ clientToken: "g.1", count: 7, tags: { Name: "default", "karpenter-serverless/launch-group": "g.1" } });
    expect(request.tags).not.toHaveProperty("karpenter.sh/nodeclaim");
    expect(request.tags).not.toHaveProperty("karpenter-serverless/claim-uid");
    const overrides = request.launchTemplates.flatMap((one) => one.overrides);
    expect(overrides.length).toBeGreaterThan(0);
    expect(overrides.every(({ instanceType }) => Number(all.find(({ name }) => name === instanceType)?.capacity["cpu"]) > 3)).toBe(true);
    const [{ instanceType = "" } = {}] = overrides;
    const zonesOf = (zoneTurn: number) =>
      launched({ group: { ...group, zoneTurn } })
        .request.launchTemplates.flatMap((one) => one.overrides)
        .filter((one) => one.instanceType === instanceType)
        .map(({ zone }) => zone);
    const [a, b, c, ...rest] = zonesOf(0);
    expect(zonesOf(1)).toEqual([b, c, ...rest, a]);
    expect(zonesOf(2)).toEqual([c, ...rest, a, b]);
  });

  it("a launch has one template per image and pod limit, and asks for spot in every zone", () => {
    const { request, templates } = launched();
    expect(request).toMatchObject({
      clientToken: "11111111-2222-3333-4444-555555555555-0",
      capacityType: "spot",
      tags: {
        Name: "default/default-abcde",
        "kubernetes.io/cluster/prod": "owned",
        "eks:eks-cluster-name": "prod",
        "karpenter.sh/nodepool": "default",
        "karpenter.sh/nodeclaim": "default-abcde",
        "karpenter.k8s.aws/ec2nodeclass": "default",
        "karpenter-serverless/claim-uid": "11111111-2222-3333-4444-555555555555",
      },
    });
    expect(templates.map(({ imageId }) => imageId).sort()).toEqual(["ami-amd", "ami-arm"]);
    expect(request.launchTemplates.map(({ name }) => name)).toEqual(templates.map(({ name }) => name));
    for (const { name, tags } of templates) {
      expect(name).toMatch(/^karpenter\.k8s\.aws\/[0-9a-f]{16}$/);
      expect(tags).not.toHaveProperty("karpenter.sh/nodeclaim");
      expect(tags).not.toHaveProperty("Name");
    }
    expect(overridesOf()).toContainEqual({
      instanceType: "m5.large",
      subnetId: "subnet-us-west-2a",
      zone: "us-west-2a",
      imageId: "ami-amd",
      price: 0.051542,
    });
  });

  it("a NodeClaim whose requests are no amounts is refused with its reason", () => {
    const spec = { requirements: [], resources: { requests: { cpu: "1e1.5" } } };
    expect(render({ claim: claim({ spec }) })).toMatchObject({
      error: {
        reason: "LaunchFailed",
        message: expect.stringContaining('spec.resources.requests cannot be read: resource cpu: quantity "1e1.5"'),
      },
    });
  });

  it("a launch has a separate template for another pod limit", () => {
    const names = { key: "node.kubernetes.io/instance-type", operator: "In", values: ["m5.large", "m5.xlarge"] } as const;
    const { templates } = launched(requirements(names, { key: "karpenter.sh/capacity-type", operator: "In", values: ["spot"] }));
    expect(templates.map(({ userData }) => /maxPods: (\d+)/.exec(userData)?.[1])).toEqual(["29", "58"]);
  });

  it("equal inputs give equal requests, and another NodeClaim with equal requirements the same templates", () => {
    expect(launched()).toEqual(launched());
    const other = launched({ claim: claim({ metadata: { name: "default-zzzzz", uid: "other" } }), attempt: 3 });
    expect(other.templates).toEqual(launched().templates);
    expect(other.request.clientToken).toBe("other-3");
  });

  it("NodeClaims of one plan that may be launched in any zone name each zone first about equally often", () => {
    const type = { key: "node.kubernetes.io/instance-type", operator: "In", values: ["m5.large"] } as const;
    const onDemand = { key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] } as const;
    const zones = Array.from({ length: 300 }, (_, i) => {
      const named = claim({
        metadata: { name: claimName("default", `intent-${i}`), uid: `${i}` },
        spec: { requirements: [type, onDemand] },
      });
      const offers = overridesOf({ claim: named });
      expect(new Set(offers.map(({ price }) => price)).size).toBe(1);
      return offers[0]?.zone ?? "";
    });
    const counts = Object.entries(Object.groupBy(zones, (zone) => zone)).map(([, own = []]) => own.length);
    expect(counts.length).toBeGreaterThan(2);
    for (const count of counts) expect(Math.abs(count / (zones.length / counts.length) - 1)).toBeLessThan(0.2);
  });

  it("a template gets another name when its content changes", () => {
    const names = [
      launched(),
      launched({ nodeClass: nodeClass({ spec: { tags: { a: "b" } } }) }),
      launched({ cluster: { ...cluster, caBundle: "eA==" } }),
    ];
    expect(new Set(names.map(({ templates }) => templates[0]?.name)).size).toBe(3);
  });

  it("a template has the family's default volumes and metadata options, and sizes in whole GiB", () => {
    expect(launched().templates[0]).toMatchObject({
      blockDeviceMappings: [{ deviceName: "/dev/xvda", ebs: { encrypted: true, volumeType: "gp3", volumeSize: 20 } }],
      metadataOptions: { httpEndpoint: "enabled", httpProtocolIPv6: "disabled", httpPutResponseHopLimit: 1, httpTokens: "required" },
      instanceProfile: "prod_1",
      securityGroupIds: ["sg-1"],
      capacityType: "spot",
    });
    const mappings = [{ deviceName: "/dev/xvda", ebs: { volumeSize: "10G", kmsKeyID: "k", snapshotID: "s" } }];
    expect(launched({ nodeClass: nodeClass({ spec: { blockDeviceMappings: mappings } }) }).templates[0]?.blockDeviceMappings).toEqual([
      { deviceName: "/dev/xvda", ebs: { volumeSize: 10, kmsKeyId: "k", snapshotId: "s" } },
    ]);
  });

  it("a request uses its prices as priorities when an overlay changed them", () => {
    const annotated = claim({ metadata: { annotations: { "karpenter.sh/price-overlay-applied": "true" } } });
    expect(launched({ claim: annotated }).request.prioritized).toBe(true);
    expect(launched().request).not.toHaveProperty("prioritized");
  });

  it("a launch uses on-demand when spot is not allowed or unavailable", () => {
    const onDemand = requirements(
      { key: "node.kubernetes.io/instance-type", operator: "In", values: ["m5.large"] },
      { key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] },
    );
    expect(launched(onDemand).request.capacityType).toBe("on-demand");
    const dry = typesOf({ unavailable: [{ instanceType: "*", zone: "*", capacityType: "spot", expiresAt: 0 }] });
    expect(launched({ instanceTypes: dry }).request.capacityType).toBe("on-demand");
  });

  it("a launch asks for the 60 cheapest types, without metal and GPUs unless nothing else is left", () => {
    const types = new Set(
      overridesOf(requirements({ key: "karpenter.sh/capacity-type", operator: "In", values: ["spot"] })).map(
        ({ instanceType }) => instanceType,
      ),
    );
    expect(types.size).toBe(60);
    expect([...types].filter((name) => /metal|^[gp]\d/.test(name))).toEqual([]);
    const gpus = new Set(overridesOf(requirements({ key: key("gpu-count"), operator: "Exists" })).map(({ instanceType }) => instanceType));
    expect(gpus.size).toBeGreaterThan(0);
    expect(
      launched(requirements({ key: key("gpu-count"), operator: "Exists" })).templates.every(({ imageId }) => imageId === "ami-gpu"),
    ).toBe(true);
  });

  it("a launch asks for the types that an image boots, in the capacity type that these have", () => {
    const types = requirements({ key: "node.kubernetes.io/instance-type", operator: "In", values: ["m6gd.large", "m5d.xlarge"] });
    const found = overridesOf({ ...types, nodeClass: amdOnly() });
    expect(new Set(found.map(({ instanceType }) => instanceType))).toEqual(new Set(["m5d.xlarge"]));
  });

  it("a launch drops spot offerings above the cheapest on-demand price", () => {
    const names = { key: "node.kubernetes.io/instance-type", operator: "In", values: ["t3.medium", "m5.24xlarge"] } as const;
    expect(new Set(overridesOf(requirements(names)).map(({ instanceType }) => instanceType))).toEqual(new Set(["t3.medium"]));
    const spotOnly = requirements(names, { key: "karpenter.sh/capacity-type", operator: "In", values: ["spot"] });
    expect(new Set(overridesOf(spotOnly).map(({ instanceType }) => instanceType)).size).toBe(2);
  });

  it("a launch keeps spot of all its types while no spot price is known", () => {
    const names = ["m5.large", "c5.large", "m5.4xlarge"];
    const { spot: _, ...unpriced } = catalogue;
    const types = requirements({ key: "node.kubernetes.io/instance-type", operator: "In", values: names });
    const asked = overridesOf({ ...types, instanceTypes: typesOf({ catalogue: unpriced }) });
    expect(new Set(asked.map(({ instanceType }) => instanceType))).toEqual(new Set(names));
  });

  it("a launch uses the required zone and its subnet with most free addresses, and skips full subnets", () => {
    const zone = { key: "topology.kubernetes.io/zone", operator: "In", values: ["us-west-2a"] } as const;
    const status = { subnets: ["subnet-1", "subnet-2", "subnet-3"].map((id) => ({ id, zone: "us-west-2a", zoneID: "usw2-az2" })) };
    const where = (more: Partial<LaunchInput>): unknown => [
      ...new Set(overridesOf({ ...requirements(zone), nodeClass: nodeClass({ status }), ...more }).map(({ subnetId }) => subnetId)),
    ];
    expect(where({})).toEqual(["subnet-1"]);
    expect(where({ freeIps: { "subnet-1": 3, "subnet-2": 9, "subnet-3": 5 } })).toEqual(["subnet-2"]);
    expect(where({ unavailable: [{ instanceType: "*", zone: "subnet-1", capacityType: "spot", expiresAt: 0 }] })).toEqual(["subnet-2"]);
    const byId = requirements({ key: "topology.k8s.aws/zone-id", operator: "In", values: ["usw2-az1"] });
    expect(new Set(overridesOf(byId).map((override) => override.zone))).toEqual(new Set(["us-west-2b"]));
  });

  it("a launch meets minValues unless they were relaxed", () => {
    const items = [
      { key: "node.kubernetes.io/instance-type", operator: "In", values: ["m5.large", "m5.xlarge"] },
      { key: key("family"), operator: "Exists", minValues: 2 },
    ] as const;
    expect(render(requirements(...items))).toMatchObject({
      error: { kind: "InsufficientCapacity", message: expect.stringContaining("instance-family asks for 2") },
    });
    const relaxed = claim({
      spec: { requirements: items },
      metadata: { annotations: { "karpenter.sh/nodeclaim-min-values-relaxed": "true" } },
    });
    expect(launched({ claim: relaxed, nodeClass: nodeClass({ spec: { context: "c" } }) }).request.context).toBeUndefined();
    expect(launched({ nodeClass: nodeClass({ spec: { context: "c" } }) }).request.context).toBe("c");
  });

  it("minValues count only values that the NodeClaim allows", () => {
    const zones = { key: "topology.kubernetes.io/zone", operator: "In", values: ["us-west-2a"], minValues: 2 } as const;
    expect(render(requirements(zones))).toMatchObject({
      error: { kind: "InsufficientCapacity", message: expect.stringContaining("topology.kubernetes.io/zone asks for 2") },
    });
  });

  it("a launch asks for EFA interfaces and dedicated tenancy only if the NodeClaim does", () => {
    const requests = { cpu: "1", "vpc.amazonaws.com/efa": "1" };
    const efa = claim({
      spec: {
        resources: { requests },
        requirements: [{ key: "node.kubernetes.io/instance-type", operator: "In", values: ["c5n.18xlarge"] }],
      },
    });
    expect(launched({ claim: efa }).templates[0]?.networkInterfaces).toEqual([{ card: 0, device: 0, type: "efa" }]);
    expect(launched().templates[0]).not.toHaveProperty("networkInterfaces");
    const dedicated = { key: key("tenancy"), operator: "In", values: ["dedicated"] } as const;
    expect(launched(requirements(dedicated)).templates[0]?.tenancy).toBe("dedicated");
  });

  it.for<{ name: string; with: Partial<LaunchInput>; want: object }>([
    { name: "no NodeClass", with: { nodeClass: undefined }, want: { kind: "InsufficientCapacity", reason: "NodeClassNotFound" } },
    {
      name: "a deleting NodeClass",
      with: { nodeClass: nodeClass({ metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }) },
      want: { kind: "InsufficientCapacity", reason: "NodeClassTerminating" },
    },
    {
      name: "a NodeClass that changed",
      with: { nodeClass: nodeClass({ metadata: { generation: 2 } }) },
      want: { kind: "NodeClassNotReady" },
    },
    {
      name: "a NodeClass that is not ready",
      with: {
        nodeClass: nodeClass({ status: { conditions: [{ type: "Ready", status: "False", reason: "UnhealthyDependents", message: "m" }] } }),
      },
      want: { kind: "NodeClassNotReady", reason: "UnhealthyDependents", message: "EC2NodeClass default is not ready: m" },
    },
    {
      name: "a NodeClass without a status",
      with: { nodeClass: nodeClass({ status: { conditions: [] } }) },
      want: { kind: "Refused", reason: "NodeClassReadinessUnknown" },
    },
    {
      name: "too large a pod",
      with: { claim: claim({ spec: { resources: { requests: { cpu: "9000" } } } }) },
      want: { kind: "InsufficientCapacity" },
    },
    {
      name: "no image",
      with: { nodeClass: nodeClass({ status: { amis: [] } }) },
      want: { kind: "Refused", message: expect.stringContaining("no AMI") },
    },
    {
      name: "images of another architecture",
      with: { ...requirements({ key: "kubernetes.io/arch", operator: "In", values: ["arm64"] }), nodeClass: amdOnly() },
      want: { kind: "InsufficientCapacity", reason: "LaunchFailed", message: expect.stringContaining("no AMI") },
    },
    {
      name: "userData over EC2's limit",
      with: { nodeClass: nodeClass({ spec: { userData: "x".repeat(17_000) } }) },
      want: { kind: "Refused", reason: "UserDataSizeLimitExceeded", message: expect.stringContaining("16384") },
    },
    {
      name: "userData that is not TOML",
      with: { nodeClass: nodeClass({ spec: { amiFamily: "Bottlerocket", userData: "a = ?" } }) },
      want: { kind: "Refused", message: "userData is not valid TOML: line 1: a value is missing" },
    },
  ])("a launch that cannot be rendered says why: $name", ({ with: overrides, want }) => {
    expect(render(overrides)).toMatchObject({ error: want });
  });
});

it("a client token has at most 64 characters", () => {
  expect(clientToken("u".repeat(80), 12)).toMatch(/^[0-9a-f]{16}-12$/);
});
