import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { convertObject } from "#core/conversion/convert.ts";
import { type Upgraded, upgrade } from "#core/conversion/upgrade/upgrade.ts";
import { getAt, type Json, type JsonObject, type Path } from "#core/lib/json.ts";
import { nodeClaimBeta, nodeClassBeta, nodePoolBeta } from "./arbitraries.ts";

const TEMPLATE: Path = ["spec", "template", "spec"];

function upgraded(...objects: readonly object[]): readonly Upgraded[] {
  return upgrade(objects).flatMap((made) => made ?? []);
}

const provisioner = (spec: object) => ({ apiVersion: "karpenter.sh/v1alpha5", kind: "Provisioner", metadata: { name: "default" }, spec });
const template = (spec: object) => ({
  apiVersion: "karpenter.k8s.aws/v1alpha1",
  kind: "AWSNodeTemplate",
  metadata: { name: "default" },
  spec: { subnetSelector: { a: "1" }, securityGroupSelector: { a: "1" }, instanceProfile: "p", ...spec },
});
const texts = (made: Upgraded | undefined): readonly string[] => (made?.notes ?? []).map(({ level, text }) => `${level}: ${text}`);

/** The single new object of an old object. */
function only(object: object): Upgraded {
  const [made] = upgraded(object);
  if (made === undefined) throw new Error("nothing was upgraded");
  return made;
}

describe("Provisioner", () => {
  it.for([
    { name: "consolidation", spec: { consolidation: { enabled: true } }, policy: "WhenEmptyOrUnderutilized", after: "0s" },
    { name: "emptiness", spec: { ttlSecondsAfterEmpty: 30 }, policy: "WhenEmpty", after: "30s" },
    {
      name: "emptiness, with consolidation off",
      spec: { consolidation: { enabled: false }, ttlSecondsAfterEmpty: 0 },
      policy: "WhenEmpty",
      after: "0s",
    },
    { name: "neither: Never, for v1 does both by default", spec: {}, policy: "WhenEmpty", after: "Never" },
    {
      name: "both, which was refused: consolidation takes empty nodes too",
      spec: { consolidation: { enabled: true }, ttlSecondsAfterEmpty: 30 },
      policy: "WhenEmptyOrUnderutilized",
      after: "0s",
    },
    { name: "a placeholder for a number", spec: { ttlSecondsAfterEmpty: "word" }, policy: "WhenEmpty", after: "words" },
  ])("a Provisioner as a NodePool: $name", ({ spec, policy, after }) => {
    expect(only(provisioner(spec)).object["spec"]).toMatchObject({
      disruption: { consolidationPolicy: policy, consolidateAfter: after },
    });
  });

  it.for([
    { seconds: 2_592_000, is: "720h" },
    { seconds: 90, is: "90s" },
    { seconds: 120, is: "2m" },
    { seconds: undefined, is: "Never" },
  ])("a node's age of $seconds seconds is $is", ({ seconds, is }) => {
    expect(getAt(only(provisioner({ ttlSecondsUntilExpired: seconds ?? null })).object, [...TEMPLATE, "expireAfter"])).toBe(is);
  });

  it("a Provisioner gets the requirements that its webhook added", () => {
    const keys = (spec: object): readonly unknown[] =>
      (getAt(only(provisioner(spec)).object, [...TEMPLATE, "requirements"]) as readonly JsonObject[]).map(({ key }) => key);
    expect(keys({})).toEqual([
      "kubernetes.io/os",
      "kubernetes.io/arch",
      "karpenter.sh/capacity-type",
      "karpenter.k8s.aws/instance-category",
      "karpenter.k8s.aws/instance-generation",
    ]);
    const family = { key: "karpenter.k8s.aws/instance-family", operator: "In", values: ["m5"] };
    const windows = { "kubernetes.io/os": "windows" };
    expect(keys({ requirements: [family], labels: windows })).toEqual([family.key, "kubernetes.io/arch", "karpenter.sh/capacity-type"]);
  });

  it("a Provisioner's moved fields are kept under their new names", () => {
    const { object } = only(
      provisioner({
        labels: { team: "a" },
        annotations: { "karpenter.sh/do-not-consolidate": "true" },
        taints: [{ key: "a", effect: "NoSchedule" }],
        startupTaints: [{ key: "b", effect: "NoExecute" }],
        limits: { resources: { cpu: 1000 } },
        weight: 7,
        providerRef: { name: "mine" },
      }),
    );
    expect(object["spec"]).toMatchObject({
      limits: { cpu: 1000 },
      weight: 7,
      template: {
        metadata: { labels: { team: "a" }, annotations: { "karpenter.sh/do-not-disrupt": "true" } },
        spec: {
          taints: [{ key: "a", effect: "NoSchedule" }],
          startupTaints: [{ key: "b", effect: "NoExecute" }],
          nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "mine" },
        },
      },
    });
  });

  it("a Provisioner's provider block becomes an EC2NodeClass of its name", () => {
    const [pool, nodeClass] = upgraded(provisioner({ provider: { subnetSelector: { a: "1" }, securityGroupSelector: { a: "1" } } }));
    expect(getAt(pool?.object, [...TEMPLATE, "nodeClassRef", "name"])).toBe("default");
    expect(nodeClass?.object).toMatchObject({
      apiVersion: "karpenter.k8s.aws/v1",
      kind: "EC2NodeClass",
      metadata: { name: "default" },
      spec: { amiSelectorTerms: [{ alias: "al2@latest" }], subnetSelectorTerms: [{ tags: { a: "1" } }], role: `\${KARPENTER_NODE_ROLE}` },
    });
  });

  it("requirements on a removed label, and unknown fields, get notes", () => {
    const pods = { key: "karpenter.k8s.aws/instance-pods", operator: "Gt", values: ["20"] };
    const made = only(provisioner({ requirements: [pods], labelz: { a: "b" } }));
    expect(JSON.stringify(made.object)).not.toContain("instance-pods");
    expect(texts(made)).toEqual(
      expect.arrayContaining([
        expect.stringContaining("act: a requirement on karpenter.k8s.aws/instance-pods was left out"),
        expect.stringContaining("act: spec.labelz.a is no field"),
      ]),
    );
  });
});

describe("NodePool", () => {
  const nodePool = (spec: object) => ({ apiVersion: "karpenter.sh/v1beta1", kind: "NodePool", metadata: { name: "default" }, spec });

  it.for([
    { name: "a patch for kustomize gets no more fields than it had", spec: { limits: { cpu: 9 } }, is: { limits: { cpu: 9 } } },
    {
      name: "null requirements, as karpenter-convert wrote them, become an empty list",
      spec: { template: { spec: { requirements: null } } },
      is: { template: { spec: { requirements: [] } } },
    },
    {
      name: "a disruption block with only budgets gets the consolidateAfter that v1 requires",
      spec: { disruption: { budgets: [{ nodes: "1" }] } },
      is: { disruption: { budgets: [{ nodes: "1" }], consolidateAfter: "0s" } },
    },
  ])("a v1beta1 NodePool as v1: $name", ({ spec, is }) => {
    expect(only(nodePool(spec)).object["spec"]).toEqual(is);
  });
});

describe("AWSNodeTemplate", () => {
  it.for([
    { name: "no family is AL2", spec: {}, is: { amiSelectorTerms: [{ alias: "al2@latest" }] } },
    {
      name: "a family alone is an alias",
      spec: { amiFamily: "Bottlerocket" },
      is: { amiSelectorTerms: [{ alias: "bottlerocket@latest" }] },
    },
    {
      name: "a selector keeps its family",
      spec: { amiFamily: "Custom", amiSelector: { "aws-ids": "ami-1" } },
      is: { amiFamily: "Custom", amiSelectorTerms: [{ id: "ami-1" }] },
    },
    {
      name: "Ubuntu writes user data as AL2 does",
      spec: { amiFamily: "Ubuntu", amiSelector: { "aws::name": "ubuntu-*" } },
      is: { amiFamily: "AL2", blockDeviceMappings: [{ deviceName: "/dev/sda1" }] },
    },
    { name: "the hop limit that was the default is written out", spec: {}, is: { metadataOptions: { httpPutResponseHopLimit: 2 } } },
    {
      name: "a hop limit that was given stays",
      spec: { metadataOptions: { httpPutResponseHopLimit: 3 } },
      is: { metadataOptions: { httpPutResponseHopLimit: 3 } },
    },
  ])("an AWSNodeTemplate as an EC2NodeClass: $name", ({ spec, is }) => {
    expect(only(template(spec)).object["spec"]).toMatchObject(is);
  });

  it.for([
    { size: "100Gi", is: "100Gi" },
    { size: "20480Mi", is: "20Gi" },
    { size: "1.5Ti", is: "1536Gi" },
    { size: 107_374_182_400, is: "100Gi" },
    { size: 50, is: "50Gi", says: "50 has no unit" },
    { size: "wordGi", is: "wordGi" },
  ])("a volume of $size is $is", ({ size, is, says }) => {
    const made = only(template({ blockDeviceMappings: [{ deviceName: "/dev/xvda", ebs: { volumeSize: size } }] }));
    expect(getAt(made.object, ["spec", "blockDeviceMappings", 0, "ebs", "volumeSize"])).toBe(is);
    expect(texts(made).some((text) => text.includes("no unit"))).toBe(says !== undefined);
  });

  it("an AWSNodeTemplate with a launch template gets an invalid note", () => {
    expect(texts(only(template({ launchTemplate: "mine" })))).toContainEqual(
      expect.stringMatching(/^invalid: launchTemplate "mine" has no counterpart/),
    );
  });

  it("an AWSNodeTemplate's tags that the system sets are left out", () => {
    const made = only(template({ tags: { team: "a", "karpenter.sh/provisioner-name": "x" } }));
    expect(getAt(made.object, ["spec", "tags"])).toEqual({ team: "a" });
  });
});

describe("kubelet settings move to the EC2NodeClass", () => {
  const pool = (name: string, kubelet?: object) => ({
    apiVersion: "karpenter.sh/v1beta1",
    kind: "NodePool",
    metadata: { name },
    spec: { template: { spec: { requirements: [], nodeClassRef: { name: "shared" }, ...(kubelet && { kubelet }) } } },
  });
  const nodeClass = {
    apiVersion: "karpenter.k8s.aws/v1beta1",
    kind: "EC2NodeClass",
    metadata: { name: "shared" },
    spec: { amiFamily: "AL2023", role: "r", subnetSelectorTerms: [{ id: "subnet-1" }], securityGroupSelectorTerms: [{ id: "sg-1" }] },
  };
  const classesOf = (made: readonly Upgraded[]): readonly (readonly [Json | undefined, Json | undefined])[] =>
    made
      .filter(({ object }) => object["kind"] === "EC2NodeClass")
      .map(({ object }) => [getAt(object, ["metadata", "name"]), getAt(object, ["spec", "kubelet"])]);
  const refsOf = (made: readonly Upgraded[]): readonly unknown[] =>
    made.filter(({ object }) => object["kind"] === "NodePool").map(({ object }) => getAt(object, [...TEMPLATE, "nodeClassRef", "name"]));

  it("equal kubelet settings of all NodePools move to their EC2NodeClass", () => {
    const made = upgraded(pool("a", { maxPods: 20 }), nodeClass, pool("b", { maxPods: 20 }));
    expect(classesOf(made)).toEqual([["shared", { maxPods: 20 }]]);
    expect(refsOf(made)).toEqual(["shared", "shared"]);
  });

  it("different kubelet settings move to copies; NodePools without settings keep the EC2NodeClass", () => {
    const made = upgraded(pool("a", { maxPods: 20 }), pool("b"), pool("c", { maxPods: 30 }), pool("d", { maxPods: 20 }), nodeClass);
    expect(classesOf(made)).toEqual([
      ["shared", undefined],
      ["shared-a", { maxPods: 20 }],
      ["shared-c", { maxPods: 30 }],
    ]);
    expect(refsOf(made)).toEqual(["shared-a", "shared", "shared-c", "shared-a"]);
  });

  it("kubelet settings move to a copy when a v1 NodePool uses the EC2NodeClass", () => {
    const ref = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "shared" };
    const v1 = {
      apiVersion: "karpenter.sh/v1",
      kind: "NodePool",
      metadata: { name: "v1" },
      spec: { template: { spec: { nodeClassRef: ref } } },
    };
    expect(classesOf(upgraded(pool("a", { maxPods: 20 }), nodeClass, v1))).toEqual([
      ["shared", undefined],
      ["shared-a", { maxPods: 20 }],
    ]);
  });

  it("kubelet settings get a note when the EC2NodeClass is not given", () => {
    expect(upgraded(pool("a", { maxPods: 20 }))[0]?.notes).toEqual([
      {
        level: "act",
        at: [...TEMPLATE, "nodeClassRef"],
        text: expect.stringContaining("shared is not among"),
        sample: { kubelet: { maxPods: 20 } },
      },
    ]);
  });

  it("kubelet settings have amounts as strings and no runtime", () => {
    const settings = { containerRuntime: "dockerd", kubeReserved: { cpu: 1, memory: "100Mi" } };
    const made = upgraded(
      provisioner({ kubeletConfiguration: settings, providerRef: { name: "default" } }),
      template({ amiFamily: "Bottlerocket" }),
    );
    expect(classesOf(made)).toEqual([["default", { kubeReserved: { cpu: "1", memory: "100Mi" } }]]);
  });
});

describe("Machine and NodeClaim", () => {
  const machine = {
    apiVersion: "karpenter.sh/v1alpha5",
    kind: "Machine",
    metadata: {
      name: "m",
      labels: { "karpenter.sh/provisioner-name": "default" },
      uid: "u",
      ownerReferences: [],
      finalizers: ["karpenter.sh/termination"],
    },
    spec: {
      machineTemplateRef: { name: "t" },
      requirements: [{ key: "karpenter.sh/provisioner-name", operator: "In", values: ["default"] }],
    },
    status: { providerID: "aws:///a/i-1" },
  };

  it("a Machine takes expireAfter from its NodePool, and the new names", () => {
    const [, claim] = upgraded(provisioner({ ttlSecondsUntilExpired: 3600, providerRef: { name: "t" } }), machine);
    expect(claim?.object).toEqual({
      apiVersion: "karpenter.sh/v1",
      kind: "NodeClaim",
      metadata: { name: "m", labels: { "karpenter.sh/nodepool": "default" } },
      spec: {
        nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "t" },
        requirements: [{ key: "karpenter.sh/nodepool", operator: "In", values: ["default"] }],
        expireAfter: "1h",
      },
    });
  });

  it("a Machine without a known NodePool gets a note", () => {
    expect(texts(only(machine))).toContainEqual(expect.stringContaining("expireAfter was the NodePool's"));
  });
});

describe("laws", () => {
  const anyBeta = fc.oneof(nodePoolBeta, nodeClassBeta, nodeClaimBeta);

  it("a second upgrade changes nothing", () => {
    fc.assert(
      fc.property(fc.array(anyBeta, { minLength: 1, maxLength: 4 }), (objects) => {
        const once = upgraded(...objects).map(({ object }) => object);
        expect(upgrade(once).every((made) => made === undefined)).toBe(true);
      }),
    );
  });

  it("an upgraded manifest equals what the webhook would store", () => {
    fc.assert(
      fc.property(fc.oneof(nodePoolBeta, nodeClassBeta), (object) => {
        const [made] = upgraded(object);
        const converted = convertObject(object, object.apiVersion.replace("v1beta1", "v1"));
        const stored = "ok" in converted ? getAt(converted.ok, ["spec"]) : undefined;
        const hopLimit = { metadataOptions: { httpPutResponseHopLimit: 2, ...(getAt(stored, ["metadataOptions"]) as object) } };
        expect(made?.object["spec"]).toEqual({ ...(stored as object), ...(object.kind === "EC2NodeClass" && hopLimit) });
      }),
    );
  });

  it("an upgrade does not change its input", () => {
    fc.assert(
      fc.property(fc.array(anyBeta, { maxLength: 3 }), (objects) => {
        const before = JSON.stringify(objects);
        upgrade(objects);
        expect(JSON.stringify(objects)).toBe(before);
      }),
    );
  });

  it("an upgrade ignores other objects", () => {
    const deployment = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "d" } };
    const v1 = { apiVersion: "karpenter.sh/v1", kind: "NodePool", metadata: { name: "p" } };
    expect(upgrade([deployment, v1, 7, null])).toEqual([undefined, undefined, undefined, undefined]);
  });
});
