import { canonicalJson } from "../lib/fnv.ts";
import { ARCH } from "../model/labels.ts";
import type { ResolvedAmi } from "../model/node-class.ts";
import type { NodeSelectorRequirementWithMinValues } from "../model/node-pool.ts";
import type { Image } from "../ports/cloud-inventory.ts";
import type { Variant } from "./ami-parameters.ts";

/**
 * An image and the variants that it serves: `[[]]` for an image that the user selects by id, name or tags; it serves
 * all types of its architecture.
 */
export interface FoundImage {
  readonly image: Image;
  readonly variants: readonly Variant[];
}

const ARCHITECTURES: Readonly<Record<string, string>> = { x86_64: "amd64", arm64: "arm64" };

/**
 * Images for the status, newest first. Of several images for equal requirements one is kept: an image that is not
 * deprecated, then the newest, then the greater name. Images of an architecture other than amd64 and arm64 are left out
 * (karpenter-provider-aws: pkg/providers/amifamily/types.go, AMIs.Sort). `now` in ms.
 */
export function resolveAmis(found: readonly FoundImage[], now: number): readonly ResolvedAmi[] {
  const bySet = new Map<string, { readonly image: Image; readonly requirements: readonly NodeSelectorRequirementWithMinValues[] }>();
  for (const { image, variants } of found) {
    const arch = ARCHITECTURES[image.architecture];
    if (arch === undefined) continue;
    for (const variant of variants) {
      const requirements = [...variant, { key: ARCH, operator: "In" as const, values: [arch] }].sort(
        (a, b) => a.key.length - b.key.length || (a.key < b.key ? -1 : 1),
      );
      const key = canonicalJson(requirements);
      const rival = bySet.get(key);
      if (rival === undefined || better(image, rival.image, now)) bySet.set(key, { image, requirements });
    }
  }
  return [...bySet.values()]
    .sort((a, b) => compareText(b.image.creationDate, a.image.creationDate) || compareText(a.image.id, b.image.id))
    .map(({ image, requirements }) => ({
      id: image.id,
      name: image.name,
      ...(isDeprecated(image, now) && { deprecated: true }),
      requirements,
    }));
}

function better(a: Image, b: Image, now: number): boolean {
  const deprecated = Number(isDeprecated(a, now)) - Number(isDeprecated(b, now));
  return (deprecated || compareText(b.creationDate, a.creationDate) || compareText(b.name, a.name)) < 0;
}

function isDeprecated({ deprecationTime }: Image, now: number): boolean {
  return deprecationTime !== undefined && Date.parse(deprecationTime) <= now;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
