import type { InstanceType } from "#core/model/instance-type.ts";
import type { NodeOverlay } from "#core/model/node-overlay.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import { applyOverlays, type Overlaid } from "#core/node-overlay/apply.ts";
import { explainVerdict } from "#core/node-overlay/verdict.ts";

/** The fields of a scenario that NodeOverlays read; every NodePool has all of its instance types. */
export interface OverlaidScenario {
  readonly nodePools: readonly NodePool[];
  readonly nodeOverlays: readonly NodeOverlay[];
  readonly instanceTypes: readonly InstanceType[];
}

/**
 * The instance types of a scenario by NodePool, with its NodeOverlays applied. The feature gate is on when the file
 * holds any.
 */
export function overlaidScenario({ nodePools, nodeOverlays, instanceTypes }: OverlaidScenario): Overlaid {
  return applyOverlays(nodeOverlays, nodePools, new Map(nodePools.map(({ metadata }) => [metadata.name, instanceTypes])));
}

/** Sentences about what NodeOverlays change of the types that a claim may become. */
export function overlaidNotes(types: readonly InstanceType[]): readonly string[] {
  const priced = types.filter(({ offerings }) => offerings.some(({ priceOverlaid }) => priceOverlaid)).length;
  const enriched = types.filter(({ capacityOverlaid }) => capacityOverlaid).length;
  return [
    ...(priced > 0 ? [`NodeOverlays set the price of ${priced} of these types`] : []),
    ...(enriched > 0 ? [`NodeOverlays promise resources of ${enriched} of these types`] : []),
  ];
}

/** A sentence for each NodeOverlay that has no effect: why, and what to do. */
export function idleOverlays(scenario: OverlaidScenario): readonly string[] {
  return [...overlaidScenario(scenario).verdicts].flatMap(([name, verdict]) => {
    const why = explainVerdict(verdict);
    if (why === "") return [];
    return [`NodeOverlay ${name} ${verdict.outcome === "Applied" ? "has no effect" : "is not applied"}: ${why}`];
  });
}
