import type { EC2NodeClassSpec } from "../model/node-class.ts";

type Term = Readonly<Record<string, unknown>>;

/**
 * Fields that must stand alone in a selector term, most important first: if two are set, the first is used and the
 * others are ignored.
 */
const ALONE = {
  subnetSelectorTerms: ["id"],
  securityGroupSelectorTerms: ["id", "name"],
  capacityReservationSelectorTerms: ["id"],
  amiSelectorTerms: ["id", "ssmParameter"],
} as const satisfies Partial<Record<string, readonly string[]>>;

/**
 * Warnings about selector terms with ignored fields. Like Karpenter's schema, ours refuses them only when every term of
 * a list has them (for images: always), and accepts an ssmParameter beside any field.
 */
export function selectorWarnings(spec: EC2NodeClassSpec): readonly string[] {
  return Object.entries(ALONE).flatMap(([list, alone]) => {
    const terms = (spec as unknown as Readonly<Record<string, readonly Term[] | undefined>>)[list] ?? [];
    return terms.flatMap((term, i) => {
      const first = alone.find((field) => term[field] !== undefined);
      const unread = Object.keys(term).filter((field) => field !== first);
      return first === undefined || unread.length === 0
        ? []
        : [`spec.${list}[${i}]: ${first} decides, so ${unread.join(" and ")} beside it ${unread.length === 1 ? "is" : "are"} not read`];
    });
  });
}
