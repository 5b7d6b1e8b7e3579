import { HOSTNAME } from "../../model/labels.ts";
import { untolerated } from "../../pods/taints.ts";
import { has } from "../../requirements/requirement.ts";
import { openTypes } from "../problem/open-types.ts";
import type { SchedulingProblem } from "../problem/problem.ts";
import type { TopologyState } from "../problem/topology-state.ts";
import type { TopologyGroup } from "../rules/topology-group.ts";
import type { PlannedClaim } from "./planned-claim.ts";

/** A domain of a spread that a planned claim opens. */
export interface OpenedDomain {
  readonly group: TopologyGroup;
  readonly domain: string;
}

/**
 * Domains that planned claims open for hard spreads which did not count them. A pod counts the domains that its present
 * term of node affinity allows; kube-scheduler counts every node that meets any of the OR-ed terms (with
 * nodeAffinityPolicy Ignore, every node), so a new node may be an empty domain and make the spread refuse the pods.
 * Where there are any, the attempt must be made again with those domains among the domains of existing nodes
 * (TopologyGroup.present).
 */
export function openedDomains(
  problem: SchedulingProblem,
  claims: readonly PlannedClaim[],
  { counts }: TopologyState,
): readonly OpenedDomain[] {
  const opened: OpenedDomain[] = [];
  for (const group of partlyCounted(problem)) {
    const pods = counts[group.index] ?? new Map<string, number>();
    const most = Math.max(0, ...pods.values());
    for (const [domain, n] of pods) {
      if (most - n <= group.maxSkew || group.present.has(domain)) continue;
      if (n > 0 || claims.some((claim) => mayOpen(problem, claim, group, domain))) opened.push({ group, domain });
    }
  }
  return opened;
}

const known = new WeakMap<SchedulingProblem, readonly TopologyGroup[]>();

/** Hard spreads of which some domains are not counted at some step of their pods. */
function partlyCounted(problem: SchedulingProblem): readonly TopologyGroup[] {
  const found = known.get(problem);
  if (found !== undefined) return found;
  const groups = new Set<TopologyGroup>();
  for (const podData of problem.relaxations.flat()) {
    for (const group of podData.deciding) {
      const wanted = podData.strict.get(group.key);
      if (group.kind !== "spread" || group.key === HOSTNAME || !podData.hard.has(group)) continue;
      if (podData.isAlternative || (wanted !== undefined && [...group.domains.keys()].some((domain) => !has(wanted, domain))))
        groups.add(group);
    }
  }
  known.set(problem, [...groups]);
  return [...groups];
}

/** Whether the node of a claim may be in a domain and be one that the spread counts. */
function mayOpen({ sets }: SchedulingProblem, claim: PlannedClaim, { key, filter }: TopologyGroup, domain: string): boolean {
  if (filter.tolerations !== undefined && untolerated(claim.template.taints, filter.tolerations) !== undefined) return false;
  const there = sets.join(claim.set, sets.oneOf(key, [domain]));
  if (there === undefined) return false;
  return (filter.terms.length === 0 ? [new Map()] : filter.terms).some((term) => {
    const both = sets.join(there, sets.intern(term));
    return both !== undefined && openTypes(claim.template, claim.types, both, claim.used, claim.ports).some((word) => word !== 0);
  });
}
