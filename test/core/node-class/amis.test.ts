import { describe, expect, it } from "vitest";
import type { ResolvedAmi } from "#core/model/node-class.ts";
import { amiFor } from "#core/node-class/ami.ts";
import { amiParameters, unsupportedAlias, type Variant } from "#core/node-class/ami-parameters.ts";
import { aliasOf, amiFamilyOf } from "#core/node-class/family.ts";
import { resolveAmis } from "#core/node-class/resolve-amis.ts";
import type { Image } from "#core/ports/cloud-inventory.ts";

const NOW = Date.parse("2026-11-21T00:00:00Z");

function alias(text: string) {
  const found = aliasOf({ amiSelectorTerms: [{ alias: text }] });
  if (found === undefined) throw new Error(`no alias ${text}`);
  return found;
}

function names(text: string): readonly string[] {
  return amiParameters(alias(text), "1.36").map(({ name }) => name);
}

describe("amiParameters", () => {
  it("each alias has its SSM parameters", () => {
    const eks = "/aws/service/eks/optimized-ami/1.36";
    expect(names("al2023@latest")).toEqual([
      `${eks}/amazon-linux-2023/x86_64/standard/recommended/image_id`,
      `${eks}/amazon-linux-2023/x86_64/nvidia/recommended/image_id`,
      `${eks}/amazon-linux-2023/x86_64/neuron/recommended/image_id`,
      `${eks}/amazon-linux-2023/arm64/standard/recommended/image_id`,
      `${eks}/amazon-linux-2023/arm64/nvidia/recommended/image_id`,
    ]);
    expect(names("al2023@v20261101")[3]).toBe(
      `${eks}/amazon-linux-2023/arm64/standard/amazon-eks-node-al2023-arm64-standard-1.36-v20261101/image_id`,
    );
    expect(names("al2@v20260101")[2]).toBe(`${eks}/amazon-linux-2-gpu/amazon-eks-gpu-node-1.36-v20260101/image_id`);
    expect(names("bottlerocket@v1.50.0")).toContain("/aws/service/bottlerocket/aws-k8s-1.36-nvidia/arm64/1.50.0/image_id");
    expect(names("windows2022@latest")).toEqual([
      "/aws/service/ami-windows-latest/Windows_Server-2022-English-Core-EKS_Optimized-1.36/image_id",
    ]);
  });

  it("says what to use where AL2 has ended, and what else must change with it", () => {
    expect(unsupportedAlias(alias("al2@v20250101"), "1.36")).toBe(
      "there are no AL2 images for Kubernetes 1.33 and later, and the cluster runs 1.36; use al2023@latest without amiFamily AL2, and see that userData suits it",
    );
  });

  it.for([
    { text: "al2@latest", version: "1.32", supported: true },
    { text: "al2@latest", version: "1.33", supported: false },
    { text: "windows2025@latest", version: "1.34", supported: false },
    { text: "windows2025@latest", version: "1.35", supported: true },
    { text: "al2023@latest", version: "1.36", supported: true },
  ])("the alias $text on Kubernetes $version is supported: $supported", ({ text, version, supported }) => {
    expect(unsupportedAlias(alias(text), version) === undefined).toBe(supported);
  });
});

describe("amiFamilyOf", () => {
  it.for([
    { spec: { amiSelectorTerms: [{ alias: "bottlerocket@latest" }] }, want: "Bottlerocket" },
    { spec: { amiSelectorTerms: [{ alias: "bottlerocket@latest" }], amiFamily: "Custom" as const }, want: "Custom" },
    { spec: { amiSelectorTerms: [{ id: "ami-1" }], amiFamily: "AL2" as const }, want: "AL2" },
    { spec: { amiSelectorTerms: [{ alias: "beos@latest" }] }, want: "Custom" },
  ])("the family of $spec is $want", ({ spec, want }) => {
    expect(amiFamilyOf(spec)).toBe(want);
  });
});

function image(overrides: Partial<Image>): Image {
  return { id: "ami-1", name: "a", architecture: "x86_64", creationDate: "2026-01-01T00:00:00.000Z", ...overrides };
}

const GPU: Variant = [{ key: "karpenter.k8s.aws/instance-gpu-count", operator: "Exists" }];
const PLAIN: Variant = [{ key: "karpenter.k8s.aws/instance-gpu-count", operator: "DoesNotExist" }];

function resolve(...images: readonly Partial<Image>[]): readonly ResolvedAmi[] {
  return resolveAmis(
    images.map((overrides) => ({ image: image(overrides), variants: [[]] })),
    NOW,
  );
}

describe("resolveAmis", () => {
  it("resolveAmis keeps the newest image of each architecture, newest first", () => {
    const old = { id: "ami-old", creationDate: "2025-01-01T00:00:00.000Z" };
    const arm = { id: "ami-arm", architecture: "arm64", creationDate: "2026-02-01T00:00:00.000Z" };
    expect(resolve(old, {}, arm, { id: "ami-mac", architecture: "x86_64_mac" }).map(({ id }) => id)).toEqual(["ami-arm", "ami-1"]);
  });

  it("resolveAmis prefers an image that is not deprecated, then the greater name", () => {
    const past = { id: "ami-2", creationDate: "2026-09-09T00:00:00.000Z", deprecationTime: "2026-11-20T00:00:00.000Z" };
    expect(resolve(past, {})).toMatchObject([{ id: "ami-1" }]);
    expect(resolve({ ...past, deprecationTime: "2027-01-01T00:00:00Z" }, {})).toMatchObject([{ id: "ami-2" }]);
    expect(resolve(past)).toMatchObject([{ id: "ami-2", deprecated: true }]);
    expect(resolve({}, { id: "ami-b", name: "b" })).toMatchObject([{ id: "ami-b" }]);
  });

  it("resolveAmis gives an image one entry per variant", () => {
    const amis = resolveAmis([{ image: image({}), variants: [PLAIN, GPU] }], NOW);
    expect(amis.map(({ requirements }) => requirements.map(({ key, operator }) => `${key} ${operator}`))).toEqual([
      ["kubernetes.io/arch In", "karpenter.k8s.aws/instance-gpu-count DoesNotExist"],
      ["kubernetes.io/arch In", "karpenter.k8s.aws/instance-gpu-count Exists"],
    ]);
  });

  it("an instance type boots the first image whose requirements it meets", () => {
    const amis = resolveAmis(
      [
        { image: image({ id: "ami-gpu", creationDate: "2026-03-03T00:00:00.000Z" }), variants: [GPU] },
        { image: image({ id: "ami-plain" }), variants: [PLAIN] },
      ],
      NOW,
    );
    const plain = { requirements: [{ key: "kubernetes.io/arch", operator: "In", values: ["amd64"] }, ...PLAIN] } as const;
    expect(amiFor(plain, { status: { amis } })?.id).toBe("ami-plain");
    expect(
      amiFor({ requirements: [{ key: "kubernetes.io/arch", operator: "In", values: ["arm64"] }] }, { status: { amis } }),
    ).toBeUndefined();
  });
});
