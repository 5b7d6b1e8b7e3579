import { OS, WINDOWS_BUILD } from "../model/labels.ts";
import type { NodeSelectorRequirementWithMinValues } from "../model/node-pool.ts";
import { type Alias, FAMILIES } from "./family.ts";

export type Variant = readonly NodeSelectorRequirementWithMinValues[];

/**
 * An SSM parameter that holds an image id. Each variant (the instance types that the image serves) gives one entry of
 * the status.
 */
export interface AmiParameter {
  readonly name: string;
  readonly variants: readonly Variant[];
}

const GPU_COUNT = "karpenter.k8s.aws/instance-gpu-count";
const ACCELERATOR_COUNT = "karpenter.k8s.aws/instance-accelerator-count";
const STANDARD: Variant = [
  { key: ACCELERATOR_COUNT, operator: "DoesNotExist" },
  { key: GPU_COUNT, operator: "DoesNotExist" },
];
const NVIDIA: Variant = [{ key: GPU_COUNT, operator: "Exists" }];
const NEURON: Variant = [{ key: ACCELERATOR_COUNT, operator: "Exists" }];

/**
 * The parameters of an alias for a Kubernetes version such as "1.36". The caller skips parameters that do not exist
 * (karpenter-provider-aws: pkg/providers/amifamily/al2023.go, AL2023.DescribeImageQuery).
 */
export function amiParameters({ name, version, family }: Alias, kubernetes: string): readonly AmiParameter[] {
  const eks = `/aws/service/eks/optimized-ami/${kubernetes}`;
  const latest = version === "latest";
  switch (name) {
    case "al2":
      return [
        { path: "amazon-linux-2", image: "amazon-eks-node", variants: [STANDARD] },
        { path: "amazon-linux-2-arm64", image: "amazon-eks-arm64-node", variants: [STANDARD] },
        { path: "amazon-linux-2-gpu", image: "amazon-eks-gpu-node", variants: [NEURON, NVIDIA] },
      ].map(({ path, image, variants }) => ({
        name: `${eks}/${path}/${latest ? "recommended" : `${image}-${kubernetes}-${version}`}/image_id`,
        variants,
      }));
    case "al2023":
      return [
        { arch: "x86_64", variant: "standard", of: STANDARD },
        { arch: "x86_64", variant: "nvidia", of: NVIDIA },
        { arch: "x86_64", variant: "neuron", of: NEURON },
        { arch: "arm64", variant: "standard", of: STANDARD },
        { arch: "arm64", variant: "nvidia", of: NVIDIA },
      ].map(({ arch, variant, of }) => {
        const image = latest ? "recommended" : `amazon-eks-node-al2023-${arch}-${variant}-${kubernetes}-${version}`;
        return { name: `${eks}/amazon-linux-2023/${arch}/${variant}/${image}/image_id`, variants: [of] };
      });
    case "bottlerocket": {
      const release = latest ? version : version.replace(/^v+/, "");
      return [
        { path: `aws-k8s-${kubernetes}/x86_64`, variants: [STANDARD, NEURON] },
        { path: `aws-k8s-${kubernetes}/arm64`, variants: [STANDARD] },
        { path: `aws-k8s-${kubernetes}-nvidia/x86_64`, variants: [NVIDIA] },
        { path: `aws-k8s-${kubernetes}-nvidia/arm64`, variants: [NVIDIA] },
      ].map(({ path, variants }) => ({ name: `/aws/service/bottlerocket/${path}/${release}/image_id`, variants }));
    }
    default: {
      const year = name.replace("windows", "");
      const build = FAMILIES[family].windowsBuild ?? "";
      return [
        {
          name: `/aws/service/ami-windows-latest/Windows_Server-${year}-English-Core-EKS_Optimized-${kubernetes}/image_id`,
          variants: [
            [
              { key: OS, operator: "In", values: ["windows"] },
              { key: WINDOWS_BUILD, operator: "In", values: [build] },
            ],
          ],
        },
      ];
    }
  }
}

/** Why an alias has no images for a Kubernetes version; undefined when it may have some. */
export function unsupportedAlias({ name }: Alias, kubernetes: string): string | undefined {
  const minor = Number(kubernetes.split(".")[1]);
  if (name === "al2" && minor >= 33)
    return `there are no AL2 images for Kubernetes 1.33 and later, and the cluster runs ${kubernetes}; use al2023@latest without amiFamily AL2, and see that userData suits it`;
  if (name === "windows2025" && minor < 35)
    return `there are no Windows Server 2025 images for Kubernetes 1.34 and earlier, and the cluster runs ${kubernetes}; use windows2022@latest`;
  return undefined;
}
