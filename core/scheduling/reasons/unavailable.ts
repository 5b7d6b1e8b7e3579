import { oncePer } from "../../lib/once-per.ts";
import type { InstanceType, Offering } from "../../model/instance-type.ts";
import type { UnavailableType } from "../../offerings/unavailable-text.ts";
import { admitsOffering, offeringRequirementsOf } from "../../requirements/offerings.ts";
import { isLaunchable, type Template } from "../problem/template.ts";
import type { RequirementSet } from "../tables/requirement-sets.ts";
import { type TypeTable, typeTable } from "../tables/type-table.ts";

/** Without a price, it is unknown whether the offering can be bought at all. */
const isMarked = ({ unavailableUntil, price }: Offering): boolean => unavailableUntil !== undefined && price > 0;

/** The table with the offerings that are unavailable for a while; undefined when there are none. */
const lasting = oncePer(({ types }: TypeTable): TypeTable | undefined => {
  if (!types.some(({ offerings }) => offerings.some(isMarked))) return undefined;
  return typeTable(
    types.map((type): InstanceType => {
      if (!type.offerings.some(isMarked)) return type;
      return { ...type, offerings: type.offerings.map((offering) => (isMarked(offering) ? { ...offering, available: true } : offering)) };
    }),
  );
});

/**
 * The template as it is while no offering is unavailable for a while, because a launch has failed or a zone is shifted:
 * what it lacks, waiting does not bring. Its types have the same indexes. Undefined when no offering of it is so.
 */
export function withUnavailable(template: Template): Template | undefined {
  const table = lasting(template.table);
  if (table === undefined) return undefined;
  return { ...template, table, types: isLaunchable(template.set.requirements) ? table.admitted(template.set) : template.types };
}

/** Of some types, those with an offering that a set allows and that is unavailable for a while. */
export function unavailableTypes({ table }: Template, types: readonly number[], set: RequirementSet): readonly UnavailableType[] {
  const onOfferings = offeringRequirementsOf(set.requirements);
  return types.flatMap((t) => {
    const { name = "", offerings = [] } = table.types[t] ?? {};
    const marked = offerings.filter((offering) => isMarked(offering) && admitsOffering(onOfferings, offering));
    return marked.length === 0 ? [] : [{ name, offerings: marked }];
  });
}
