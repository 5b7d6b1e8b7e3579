import { untolerated } from "../../pods/taints.ts";
import type { RequirementSet } from "../tables/requirement-sets.ts";
import type { PodData } from "./pod-class.ts";
import type { SchedulingProblem } from "./problem.ts";
import { byRank, type Template } from "./template.ts";

/** The pools whose weight decides that they launch a node for a pod. */
interface HeaviestPools {
  /** Pools of one weight, the heaviest of which some can launch a node for the pod; in the order of trying. */
  readonly pools: readonly Template[];
  /** The pod's requirements with those of its volumes. */
  readonly set: RequirementSet;
}

const NO_TEMPLATES: ReadonlySet<Template> = new Set();

/**
 * The heaviest pools that can launch a node for the pod alone, as far as taints, requirements and room decide it;
 * limits and topology are not looked at. Pools of `without` do not count. Undefined when no pool can.
 */
export function heaviestPoolsFor(
  { templates, sets }: SchedulingProblem,
  podData: PodData,
  without: ReadonlySet<Template> = NO_TEMPLATES,
): HeaviestPools | undefined {
  const [volumes] = podData.volumeSets;
  const set = volumes === undefined ? podData.set : sets.join(podData.set, volumes);
  if (set === undefined) return undefined;
  for (const alike of byRank(templates)) {
    const pools = alike.filter((template) => {
      if (without.has(template)) return false;
      const joined = untolerated(template.taints, podData.tolerations) === undefined ? sets.join(template.set, set) : undefined;
      return joined !== undefined && template.frontier(joined).first(podData.vector, 0) >= 0;
    });
    if (pools.length > 0) return { pools, set };
  }
  return undefined;
}
