import { untolerated } from "../../pods/taints.ts";
import { admitsOffering, offeringRequirementsOf } from "../../requirements/offerings.ts";
import type { TopologyGroup } from "../rules/topology-group.ts";
import { emptyBitset, hasBit } from "../tables/bitset.ts";
import type { RequirementSet } from "../tables/requirement-sets.ts";
import type { SchedulingProblem } from "./problem.ts";
import type { Template } from "./template.ts";

/** Whether some pool could ever have a node in a domain of a group that the group's filter admits. */
export type PossibleDomains = (group: TopologyGroup, domain: string) => boolean;

/**
 * The domains in which a new node may count for a spread, whatever limits and capacity allow today. kube-scheduler
 * counts a domain as soon as a node of it passes the filter, so a spread never waits for one that no pool can have.
 * Answers are remembered as long as the problem lives.
 */
export function possibleDomains(problem: SchedulingProblem): PossibleDomains {
  const known = new Map<string, boolean>();
  return (group, domain) => {
    const key = `${group.index} ${domain}`;
    let answer = known.get(key);
    if (answer === undefined) {
      answer = problem.templates.some((template) => isPossible(problem, template, group, domain));
      known.set(key, answer);
    }
    return answer;
  };
}

function isPossible({ sets }: SchedulingProblem, template: Template, { key, filter }: TopologyGroup, domain: string): boolean {
  if (filter.tolerations !== undefined && untolerated(template.taints, filter.tolerations) !== undefined) return false;
  const there = sets.join(template.set, sets.oneOf(key, [domain]));
  if (there === undefined) return false;
  if (filter.terms.length === 0) return hasType(template, there);
  return filter.terms.some((term) => {
    const both = sets.join(there, sets.intern(term));
    return both !== undefined && hasType(template, both);
  });
}

/** Whether a type of the pool agrees with a set and has an offering that the set allows, available or not. */
function hasType({ table }: Template, { requirements }: RequirementSet): boolean {
  const types = emptyBitset(table.types.length).fill(-1);
  table.keepAgreeing(types, requirements.values());
  const wanted = offeringRequirementsOf(requirements);
  return table.types.some(({ offerings }, t) => hasBit(types, t) && offerings.some((offering) => admitsOffering(wanted, offering)));
}
