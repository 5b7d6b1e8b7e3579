import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { convertObject } from "#core/conversion/convert.ts";
import { conversionWarnings } from "#core/conversion/warnings.ts";
import { getAt, type Json, type Path, setAt } from "#core/lib/json.ts";
import { nodeClaimBeta, nodeClaimV1, nodeClassBeta, nodeClassV1, nodePoolBeta, nodePoolV1, shapelessSpec } from "./arbitraries.ts";

const RESIDUE = "karpenter-serverless/conversion";

interface Sample {
  readonly apiVersion: string;
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: Readonly<Record<string, unknown>>;
}

function to(version: "v1" | "v1beta1", object: unknown): Sample {
  const group = String((object as Sample).apiVersion).split("/")[0];
  const converted = convertObject(object, `${group}/${version}`);
  if ("error" in converted) throw new Error(converted.error);
  return converted.ok as unknown as Sample;
}

const KINDS = [
  { kind: "NodePool", v1: nodePoolV1, beta: nodePoolBeta },
  { kind: "NodeClaim", v1: nodeClaimV1, beta: nodeClaimBeta },
  { kind: "EC2NodeClass", v1: nodeClassV1, beta: nodeClassBeta },
];

describe("both ways", () => {
  it.for(KINDS)("a v1 $kind comes back from v1beta1 as it was", ({ v1 }) => {
    fc.assert(
      fc.property(v1, (object) => {
        expect(to("v1", to("v1beta1", object))).toEqual(object);
      }),
    );
  });

  it.for(KINDS)("a v1beta1 $kind comes back from v1 as it was", ({ beta }) => {
    fc.assert(
      fc.property(beta, (object) => {
        expect(to("v1beta1", to("v1", object))).toEqual(object);
      }),
    );
  });

  it.for(KINDS)("a conversion of a $kind changes only annotations of its metadata, as the API server requires", ({ v1, beta }) => {
    fc.assert(
      fc.property(fc.oneof(v1, beta), (object) => {
        const other = to(object.apiVersion.endsWith("v1") ? "v1beta1" : "v1", object);
        const rest = (sample: unknown): unknown =>
          setAt(sample as { readonly [name: string]: Json }, ["metadata", "annotations"], undefined);
        expect(getAt(rest(other) as Json, ["metadata"])).toEqual(getAt(rest(object) as Json, ["metadata"]));
      }),
    );
  });

  it("a conversion does not change its input", () => {
    fc.assert(
      fc.property(nodePoolV1, (object) => {
        const before = JSON.stringify(object);
        to("v1beta1", object);
        expect(JSON.stringify(object)).toBe(before);
      }),
    );
  });
});

const beta = (spec: object, annotations?: object) => ({
  apiVersion: "karpenter.sh/v1beta1",
  kind: "NodePool",
  metadata: { name: "default", ...(annotations && { annotations }) },
  spec: { template: { spec: { requirements: [], nodeClassRef: { name: "default" } } }, ...spec },
});

describe("NodePool", () => {
  it.for([
    { name: "consolidation begins at once", was: { consolidationPolicy: "WhenUnderutilized" }, is: ["WhenEmptyOrUnderutilized", "0s"] },
    {
      name: "Never stays Never",
      was: { consolidationPolicy: "WhenUnderutilized", consolidateAfter: "Never" },
      is: ["WhenEmptyOrUnderutilized", "Never"],
    },
    { name: "the default policy stays the default", was: { expireAfter: "720h" }, is: [undefined, "0s"] },
    { name: "emptiness keeps its wait", was: { consolidationPolicy: "WhenEmpty", consolidateAfter: "30s" }, is: ["WhenEmpty", "30s"] },
  ])("a v1beta1 NodePool as v1: $name", ({ was, is }) => {
    const { spec } = to("v1", beta({ disruption: was }));
    const disruption = spec["disruption"] as Record<string, unknown>;
    expect([disruption["consolidationPolicy"], disruption["consolidateAfter"]]).toEqual(is);
    expect(disruption).not.toHaveProperty("expireAfter");
  });

  it("a NodePool keeps kubelet and reference in the annotations of Karpenter 1.0", () => {
    const pool = beta({ template: { spec: { requirements: [], nodeClassRef: { name: "default" }, kubelet: { maxPods: 110 } } } });
    const v1 = to("v1", pool);
    expect(v1.metadata?.annotations).toEqual({
      "compatibility.karpenter.sh/v1beta1-kubelet-conversion": '{"maxPods":110}',
      "compatibility.karpenter.sh/v1beta1-nodeclass-reference": '{"name":"default"}',
    });
    expect(v1.spec["template"]).toEqual({
      spec: { requirements: [], nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" } },
    });
    expect(conversionWarnings(v1)).toEqual([expect.stringContaining("kubelet of v1beta1 has no effect")]);
  });

  it("a NodePool whose reference has changed since shows the current NodeClass", () => {
    const v1 = to("v1", beta({})) as unknown as { readonly [name: string]: Json };
    const ref: Path = ["spec", "template", "spec", "nodeClassRef"];
    expect(getAt(to("v1beta1", v1) as unknown as Json, ref)).toEqual({ name: "default" });
    const changed = to("v1beta1", setAt(v1, [...ref, "name"], "gpu"));
    expect(getAt(changed as unknown as Json, ref)).toEqual({ apiVersion: "karpenter.k8s.aws/v1beta1", kind: "EC2NodeClass", name: "gpu" });
  });

  it("Gte and Lte become the operators of v1beta1", () => {
    const cpu = (operator: string, value: string) => ({ key: "karpenter.k8s.aws/instance-cpu", operator, values: [value] });
    const requirements = [cpu("Gte", "4"), cpu("Lte", "16"), cpu("Gte", "0")];
    const nodeClassRef = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" };
    const pool = { ...beta({}), apiVersion: "karpenter.sh/v1", spec: { template: { spec: { requirements, nodeClassRef } } } };
    expect(getAt(to("v1beta1", pool) as unknown as Json, ["spec", "template", "spec", "requirements"])).toEqual([
      cpu("Gt", "3"),
      cpu("Lt", "17"),
      { key: "karpenter.k8s.aws/instance-cpu", operator: "Exists" },
    ]);
  });
});

describe("an edit of the v1beta1 form", () => {
  const nodeClassRef = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" };
  const v1 = {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name: "default" },
    spec: {
      template: { spec: { requirements: [], nodeClassRef, expireAfter: "720h", terminationGracePeriod: "1h" } },
      disruption: {
        consolidationPolicy: "Balanced",
        consolidateAfter: "5m",
        budgets: [{ nodes: "0", reasons: ["Drifted"] }, { nodes: "10%" }],
      },
    },
  };
  const edited = (path: Path, value: Json | undefined): unknown =>
    to("v1", setAt(to("v1beta1", v1) as unknown as { readonly [name: string]: Json }, path, value));
  const disruption = ["spec", "disruption"];

  it("an edit of the v1beta1 form wins over fields that only v1 has", () => {
    const empty = { consolidationPolicy: "WhenEmpty", consolidateAfter: "0s", expireAfter: "720h" };
    expect(getAt(edited(disruption, empty) as Json, disruption)).toEqual({ consolidationPolicy: "WhenEmpty", consolidateAfter: "0s" });
  });

  it("an edit of the v1beta1 form keeps the fields that it does not touch", () => {
    const pool = edited(["spec", "weight"], 7) as Json;
    expect(pool).toEqual({ ...v1, spec: { ...v1.spec, weight: 7 } });
  });

  it("an edit of the v1beta1 form may move items of lists", () => {
    const added = { nodes: "1", schedule: "@daily", duration: "1h" };
    const budgets = edited([...disruption, "budgets"], [added, { nodes: "0" }]) as Json;
    expect(getAt(budgets, [...disruption, "budgets"])).toEqual([added, { nodes: "0", reasons: ["Drifted"] }]);
  });

  it("an edit of the v1beta1 form keeps terminationGracePeriod, which v1beta1 does not have", () => {
    expect(getAt(edited(["spec", "limits"], { cpu: 1 }) as Json, ["spec", "template", "spec", "terminationGracePeriod"])).toBe("1h");
  });
});

describe("EC2NodeClass", () => {
  const nodeClass = (version: string, spec: object, annotations?: object) => ({
    apiVersion: `karpenter.k8s.aws/${version}`,
    kind: "EC2NodeClass",
    metadata: { name: "default", ...(annotations && { annotations }) },
    spec: { subnetSelectorTerms: [{ id: "subnet-1" }], securityGroupSelectorTerms: [{ id: "sg-1" }], role: "r", ...spec },
  });

  it.for([
    { name: "a family alone is its newest image", was: { amiFamily: "AL2023" }, is: { amiSelectorTerms: [{ alias: "al2023@latest" }] } },
    {
      name: "terms keep their family",
      was: { amiFamily: "Bottlerocket", amiSelectorTerms: [{ id: "ami-1" }] },
      is: { amiFamily: "Bottlerocket", amiSelectorTerms: [{ id: "ami-1" }] },
    },
    {
      name: "Ubuntu writes user data as AL2 does, with its own root disk",
      was: { amiFamily: "Ubuntu", amiSelectorTerms: [{ id: "ami-1" }] },
      is: {
        amiFamily: "AL2",
        amiSelectorTerms: [{ id: "ami-1" }],
        blockDeviceMappings: [
          { deviceName: "/dev/sda1", rootVolume: true, ebs: { encrypted: true, volumeType: "gp3", volumeSize: "20Gi" } },
        ],
      },
    },
  ])("a v1beta1 EC2NodeClass as v1: $name", ({ was, is }) => {
    expect(to("v1", nodeClass("v1beta1", was)).spec).toEqual(nodeClass("v1", is).spec);
  });

  it("an EC2NodeClass that finds no image gets a warning", () => {
    const v1 = to("v1", nodeClass("v1beta1", { amiFamily: "Ubuntu" }));
    expect(v1.metadata?.annotations?.["compatibility.karpenter.k8s.aws/v1beta1-ubuntu"]).toBe("amiFamily,blockDeviceMappings,incompatible");
    expect(conversionWarnings(v1)).toEqual([expect.stringContaining("finds no image")]);
  });

  it("an EC2NodeClass keeps the version of an alias in the annotation of Karpenter 1.0", () => {
    const old = to("v1beta1", nodeClass("v1", { amiSelectorTerms: [{ alias: "al2023@v20250101" }] }));
    expect(old.spec["amiFamily"]).toBe("AL2023");
    expect(old.spec).not.toHaveProperty("amiSelectorTerms");
    expect(old.metadata?.annotations).toEqual({ "compatibility.karpenter.k8s.aws/v1-alias-version": "v20250101" });
  });

  it("a v1beta1 EC2NodeClass has only fields of v1beta1", () => {
    const old = to("v1beta1", nodeClass("v1", { amiSelectorTerms: [{ alias: "al2@latest" }], kubelet: { maxPods: 10 }, ipPrefixCount: 2 }));
    expect(Object.keys(old.spec).sort()).toEqual(["amiFamily", "role", "securityGroupSelectorTerms", "subnetSelectorTerms"]);
    expect(JSON.parse(old.metadata?.annotations?.[RESIDUE] ?? "")).toEqual([
      { at: ["spec", "kubelet"], is: { maxPods: 10 } },
      { at: ["spec", "ipPrefixCount"], is: 2 },
    ]);
  });
});

describe("what cannot be converted", () => {
  it.for([
    { name: "no object", object: 7, wanted: "karpenter.sh/v1", says: "no Kubernetes object" },
    { name: "another kind", object: { apiVersion: "v1", kind: "Pod" }, wanted: "v1", says: "kind Pod has no other version" },
    {
      name: "another version",
      object: { apiVersion: "karpenter.sh/v1alpha5", kind: "NodePool" },
      wanted: "karpenter.sh/v1",
      says: "no version karpenter.sh/v1alpha5; use karpenter.sh/v1beta1 or karpenter.sh/v1",
    },
  ])("$name cannot be converted, with one sentence why", ({ object, wanted, says }) => {
    expect(convertObject(object, wanted)).toEqual({ error: expect.stringContaining(says) });
  });

  it("an object of the desired version is returned unchanged", () => {
    const pool = beta({});
    expect(convertObject(pool, pool.apiVersion)).toEqual({ ok: pool });
  });

  it("objects of any shape are converted, or refused in a sentence: never an exception", () => {
    const shapeless = fc.record({
      apiVersion: fc.constantFrom("karpenter.sh/v1", "karpenter.sh/v1beta1", "karpenter.k8s.aws/v1", "karpenter.k8s.aws/v1beta1"),
      kind: fc.constantFrom("NodePool", "NodeClaim", "EC2NodeClass"),
      metadata: fc.jsonValue(),
      spec: fc.oneof(fc.jsonValue(), shapelessSpec),
    });
    fc.assert(
      fc.property(shapeless, fc.constantFrom("v1", "v1beta1"), (object, version) => {
        const wanted = `${object.apiVersion.split("/")[0]}/${version}`;
        const converted = convertObject(object, wanted);
        expect("ok" in converted ? converted.ok["apiVersion"] : converted.error).toBeTypeOf("string");
      }),
    );
  });

  it("the annotation of differences cannot change an object's identity", () => {
    const parked = [
      { at: ["metadata", "name"], was: "default", is: "other" },
      { at: ["kind"], was: "NodePool", is: "Pod" },
      { at: [], is: {} },
      { at: ["spec", "replicas"], is: 3 },
    ];
    const v1 = to("v1", beta({}, { [RESIDUE]: JSON.stringify(parked) }));
    expect(v1).toMatchObject({ kind: "NodePool", metadata: { name: "default" }, spec: { replicas: 3 } });
  });

  it("annotations that are not JSON are ignored, because one bad object must not make a list unreadable", () => {
    const annotations = { "compatibility.karpenter.sh/v1beta1-kubelet-conversion": "{", [RESIDUE]: "{" };
    const pool = { ...beta({}, annotations), apiVersion: "karpenter.sh/v1" };
    expect(to("v1beta1", pool).metadata?.annotations).toMatchObject({ "compatibility.karpenter.sh/v1beta1-kubelet-conversion": "{" });
  });
});
