import { hexOf } from "./ids.ts";
import type { ImageRelease, OwnImage } from "./options.ts";

export type FakeImage = {
  readonly id: string;
  readonly name: string;
  readonly architecture: "x86_64" | "arm64";
  /** ISO 8601. */
  readonly creationDate: string;
  readonly deprecationTime?: string;
  readonly ownerId: string;
  readonly ownerAlias?: "amazon";
  readonly platform?: "windows";
  readonly rootDeviceName: string;
  readonly tags: Map<string, string>;
};

type Published = { readonly image: FakeImage; readonly parameters: readonly string[] };

const ARCHES = ["x86_64", "arm64"] as const;
const VARIANTS = { x86_64: ["standard", "nvidia", "neuron"], arm64: ["standard", "nvidia"] } as const;
/** The last Kubernetes minor version with AL2 images. */
const LAST_AL2_MINOR = 32;
const KEPT_MINORS = 4;
const TWO_YEARS_MS = 2 * 365 * 24 * 3_600_000;

/**
 * The images of one release for a Kubernetes version and the three before it, with the SSM parameters that point to
 * each. Names and paths are those that AWS documents for its EKS images; the ids are hashes of the names.
 */
export function imagesOf(release: ImageRelease, kubernetesVersion: string): readonly Published[] {
  const newest = Number(kubernetesVersion.split(".")[1]);
  const minors = Array.from({ length: KEPT_MINORS }, (_, i) => newest - i);
  return minors.flatMap((minor) => [
    ...al2023(release, `1.${minor}`),
    ...(minor <= LAST_AL2_MINOR ? al2(release, `1.${minor}`) : []),
    ...bottlerocket(release, `1.${minor}`),
    ...windows(release, `1.${minor}`),
  ]);
}

/** An image that belongs to the account itself. */
export function ownImage(own: OwnImage, account: string): FakeImage {
  return {
    id: own.id ?? `ami-${hexOf(own.name, 17)}`,
    name: own.name,
    architecture: own.architecture,
    creationDate: own.creationDate ?? "2026-01-01T00:00:00.000Z",
    ...(own.deprecationTime === undefined ? {} : { deprecationTime: own.deprecationTime }),
    ownerId: account,
    rootDeviceName: "/dev/xvda",
    tags: new Map(Object.entries(own.tags ?? {})),
  };
}

function image(name: string, architecture: FakeImage["architecture"], { date }: ImageRelease, owner: string): FakeImage {
  const created = `${date.slice(1, 5)}-${date.slice(5, 7)}-${date.slice(7, 9)}T00:00:00.000Z`;
  return {
    id: `ami-${hexOf(name, 17)}`,
    name,
    architecture,
    creationDate: created,
    deprecationTime: new Date(Date.parse(created) + TWO_YEARS_MS).toISOString(),
    ownerId: owner,
    ownerAlias: "amazon",
    ...(owner === "801119661308" ? { platform: "windows" as const } : {}),
    rootDeviceName: owner === "801119661308" ? "/dev/sda1" : "/dev/xvda",
    tags: new Map(),
  };
}

function al2023(release: ImageRelease, version: string): readonly Published[] {
  return ARCHES.flatMap((arch) =>
    VARIANTS[arch].map((variant) => {
      const name = `amazon-eks-node-al2023-${arch}-${variant}-${version}-${release.date}`;
      const base = `/aws/service/eks/optimized-ami/${version}/amazon-linux-2023/${arch}/${variant}`;
      return {
        image: image(name, arch, release, "602401143452"),
        parameters: [`${base}/recommended/image_id`, `${base}/${name}/image_id`],
      };
    }),
  );
}

function al2(release: ImageRelease, version: string): readonly Published[] {
  return [
    { suffix: "", infix: "", arch: "x86_64" as const },
    { suffix: "-arm64", infix: "arm64-", arch: "arm64" as const },
    { suffix: "-gpu", infix: "gpu-", arch: "x86_64" as const },
  ].map(({ suffix, infix, arch }) => {
    const name = `amazon-eks-${infix}node-${version}-${release.date}`;
    const base = `/aws/service/eks/optimized-ami/${version}/amazon-linux-2${suffix}`;
    return {
      image: image(name, arch, release, "602401143452"),
      parameters: [`${base}/recommended/image_id`, `${base}/${name}/image_id`],
    };
  });
}

function bottlerocket(release: ImageRelease, version: string): readonly Published[] {
  return ARCHES.flatMap((arch) =>
    ["", "-nvidia"].map((variant) => {
      const name = `bottlerocket-aws-k8s-${version}${variant}-${arch}-v${release.bottlerocket}-${hexOf(release.date, 8)}`;
      const base = `/aws/service/bottlerocket/aws-k8s-${version}${variant}/${arch}`;
      return {
        image: image(name, arch, release, "651937483462"),
        parameters: [`${base}/latest/image_id`, `${base}/${release.bottlerocket}/image_id`],
      };
    }),
  );
}

function windows(release: ImageRelease, version: string): readonly Published[] {
  return ["2019", "2022", "2025"].map((year) => {
    const stem = `Windows_Server-${year}-English-Core-EKS_Optimized-${version}`;
    const day = `${release.date.slice(1, 5)}.${release.date.slice(5, 7)}.${release.date.slice(7, 9)}`;
    return {
      image: image(`${stem}-${day}`, "x86_64", release, "801119661308"),
      parameters: [`/aws/service/ami-windows-latest/${stem}/image_id`],
    };
  });
}
