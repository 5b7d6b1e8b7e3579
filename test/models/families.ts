import { BUNDLED_REGIONS, bundledCatalogue, bundledLimits } from "#adapters/catalogue/bundled.ts";
import { unknownBurstables } from "#core/offerings/burstable.ts";
import { modelOf, shapeOf } from "../account/service-models.ts";

/**
 * Families of which some types have no row of limits (adapters/catalogue/data/README.md), and why. The functions read
 * the types themselves from EC2; without a row a type has no branch interfaces and no label of network bandwidth.
 */
const WITHOUT_LIMITS: Readonly<Record<string, string>> = {
  ...of("retired: EC2 launches no instances of them, or Kubernetes cannot run there", "cc1 cc2 cg1 cr1 g2 g3s hi1 hs1 p2"),
  ...of("new: Karpenter's table has no rows either", "m9g m9gd r9g r9gd t8i u7ib-12tb"),
};
/** Burstable families that count as T3, because their charges are not known. */
const UNKNOWN_BURSTABLES = ["t8i"];

function of(reason: string, families: string): Readonly<Record<string, string>> {
  return Object.fromEntries(families.split(" ").map((family) => [family, reason]));
}

const familyOf = (type: string): string => type.slice(0, type.indexOf("."));
const familiesOf = (types: readonly string[]): readonly string[] => [...new Set(types.map(familyOf))].sort();

/** What our tables lack of EC2's own list of types, beyond what is known; lines for a person, and faults. */
export function familyFaults(): { readonly families: number; readonly lines: readonly string[]; readonly faults: readonly string[] } {
  const model = modelOf("ec2");
  const types = model === undefined ? [] : (shapeOf(model, "InstanceType").enum ?? []);
  const limits = bundledLimits();
  const lacking = familiesOf(types.filter((type) => !(type in limits)));
  const filled = Object.keys(WITHOUT_LIMITS).filter(
    (family) => types.some((type) => familyOf(type) === family) && !lacking.includes(family),
  );
  const bursting = unknownBurstables(types.map((name) => ({ name })));
  const priced = new Set(BUNDLED_REGIONS.flatMap((region) => Object.keys(bundledCatalogue(region).onDemand).map(familyOf)));
  return {
    families: familiesOf(types).length,
    lines: [
      ...lacking.map((family) => `${family} has no limits (${WITHOUT_LIMITS[family] ?? "not known"})`),
      `no price until the Price List was read: ${familiesOf(types)
        .filter((family) => !priced.has(family))
        .join(", ")}`,
    ],
    faults: [
      ...(types.length === 0 ? ["EC2's model has no instance types"] : []),
      ...lacking
        .filter((family) => !(family in WITHOUT_LIMITS))
        .map((family) => `${family} has no limits: run infra/data/make.ts, or add it to WITHOUT_LIMITS in test/models/families.ts`),
      ...filled.map((family) => `${family} has limits now: take it out of WITHOUT_LIMITS in test/models/families.ts`),
      ...bursting
        .filter((family) => !UNKNOWN_BURSTABLES.includes(family))
        .map((family) => `${family} counts as T3: add its charges to core/offerings/burstable.ts, or to UNKNOWN_BURSTABLES`),
    ],
  };
}
