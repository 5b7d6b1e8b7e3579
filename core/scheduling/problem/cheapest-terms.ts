import { untolerated } from "../../pods/taints.ts";
import type { RequirementSets } from "../tables/requirement-sets.ts";
import type { PlacementStep } from "./pod-class.ts";
import type { Template } from "./template.ts";

/**
 * The steps of a class with OR-ed terms of node affinity in another order: among terms that keep all preferences, first
 * the terms for which heavier pools have nodes, then those whose nodes cost less. kube-scheduler takes any of the
 * terms, so their order in the manifest says nothing; Karpenter tries them in that order.
 * @param vector requests of one pod, in milli-units
 */
export function cheapestTermsFirst(
  steps: readonly PlacementStep[],
  { vector, pods }: { readonly vector: Float64Array; readonly pods: number },
  { templates, sets }: { readonly templates: readonly Template[]; readonly sets: RequirementSets },
): readonly PlacementStep[] {
  const whole = steps.filter(({ isWhole }) => isWhole);
  if (whole.length < 2) return steps;
  const ranked = whole.map((step) => ({ step, ...placeOf(step) }));
  ranked.sort((a, b) => a.rank - b.rank || a.price - b.price);
  return [...ranked.map(({ step }) => step), ...steps.slice(whole.length)];

  /** The heaviest rank of pools that can launch a node for the step, and USD per hour of nodes for all pods there. */
  function placeOf({ set, tolerations, contradiction }: PlacementStep): { readonly rank: number; readonly price: number } {
    let [rank, price] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (const template of contradiction === undefined ? templates : []) {
      if (template.rank > rank) break;
      const joined = untolerated(template.taints, tolerations) === undefined ? sets.join(template.set, set) : undefined;
      if (joined === undefined) continue;
      const frontier = template.frontier(joined);
      const one = frontier.priceAt(frontier.first(vector, 0));
      if (one === Number.POSITIVE_INFINITY) continue;
      [rank, price] = [template.rank, Math.min(price, Math.max(one, pods * frontier.share(vector)))];
    }
    return { rank, price };
  }
}
