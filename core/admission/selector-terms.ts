import type { EC2NodeClassSpec } from "../model/node-class.ts";

type Term = Readonly<Record<string, unknown>>;

/** Fields that stand alone in a term, most weighty first: where two meet, the first is used and the rest is not read. */
const ALONE = {
  subnetSelectorTerms: ["id"],
  securityGroupSelectorTerms: ["id", "name"],
  capacityReservationSelectorTerms: ["id"],
  amiSelectorTerms: ["id", "ssmParameter"],
} as const satisfies Partial<Record<string, readonly string[]>>;

/**
 * Terms that say more than is read. The schema refuses them only when all terms of a list are so (for images: always), as Karpenter's does, and takes
 * an ssmParameter beside anything (ec2nodeclass.md §1).
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
