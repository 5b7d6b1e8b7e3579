import { bundledCatalogue } from "#adapters/catalogue/bundled.ts";
import type { InstanceType } from "#core/model/instance-type.ts";
import { instanceTypesOf } from "#core/offerings/instance-types.ts";
import type { Random } from "../generate/random.ts";

let all: readonly InstanceType[] | undefined;

/** All 1,345 types of us-west-2 as AL2023 nodes have them, with the synthetic spot prices of the catalogue. */
export function catalogueTypes(): readonly InstanceType[] {
  if (all !== undefined) return all;
  const catalogue = bundledCatalogue("us-west-2", { withSyntheticSpot: true });
  const subnets = catalogue.zones.map(({ name, zoneId }) => ({ id: name, zone: name, zoneID: zoneId }));
  all = instanceTypesOf({
    catalogue,
    nodeClass: {
      spec: { amiSelectorTerms: [{ alias: "al2023@latest" }], subnetSelectorTerms: [], securityGroupSelectorTerms: [] },
      status: { subnets },
    },
    unavailable: [],
    settings: { vmMemoryOverheadPercent: 0.075, reservedEnis: 0 },
  });
  return all;
}

export function singleValue({ requirements }: InstanceType, key: string): string {
  return requirements.find((one) => one.key === key)?.values?.[0] ?? "";
}

const EVERYDAY = ["c", "m", "r", "t"];

/** The types of `families` families of the general categories, so that small scenarios are small files. */
export function someFamilies(random: Random, families: number): readonly InstanceType[] {
  const everyday = catalogueTypes().filter((type) => EVERYDAY.includes(singleValue(type, "karpenter.k8s.aws/instance-category")));
  const names = [...new Set(everyday.map((type) => singleValue(type, "karpenter.k8s.aws/instance-family")))];
  const chosen = new Set(random.some(names, families, families));
  return everyday.filter((type) => chosen.has(singleValue(type, "karpenter.k8s.aws/instance-family")));
}
