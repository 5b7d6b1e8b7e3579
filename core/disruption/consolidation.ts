import { CAPACITY_TYPE, ZONE } from "../model/labels.ts";
import type { PlannedNodeClaim } from "../model/plan.ts";
import { notWorthIt } from "./balanced.ts";
import type { Blocked } from "./blocked.ts";
import { type Candidate, capacityTypeOf, hasNothingToMove, instanceTypeNameOf, isEmpty } from "./candidate.ts";
import { consolidateAfterMs } from "./consolidate-after.ts";
import { cheapestLaunchPrice, launchOfferings } from "./price.ts";
import {
  allowsCapacityType,
  minValuesShortfall,
  pinnedTo,
  plannedFrom,
  type Replacement,
  replacementFrom,
  underPrice,
} from "./replacement.ts";
import type { DisruptionSettings } from "./settings.ts";
import { type Simulate, tryRemoval } from "./simulate.ts";
import type { ClusterView } from "./view.ts";

/** Fewer cheaper types than this, and a spot node would be bought again and again as the cheapest pool runs dry. */
export const SPOT_TO_SPOT_MIN_TYPES = 15;

/** Why consolidation leaves a candidate alone, before any trial (disruption.md §7). Empty nodes belong to emptiness. */
export function consolidationBlock(candidate: Candidate, now: number): Blocked | undefined {
  const { nodePool, machine } = candidate;
  const { name } = nodePool.metadata;
  if (nodePool.spec.replicas != null) return { reason: "StaticNodePool", nodePool: name };
  if (candidate.heldByPod) return candidate.heldByPod;
  if (!candidate.instanceType) return { reason: "InstanceTypeUnknown", instanceType: instanceTypeNameOf(candidate) };
  for (const label of [CAPACITY_TYPE, ZONE]) if (!machine.labels[label]) return { reason: "LabelMissing", label };
  if (consolidateAfterMs(nodePool) === Number.POSITIVE_INFINITY) return { reason: "ConsolidationDisabled", nodePool: name };
  if (nodePool.spec.disruption?.consolidationPolicy === "WhenEmpty") {
    return hasNothingToMove(candidate) ? { reason: "BufferPods", node: candidate.node } : { reason: "WhenEmptyOnly", nodePool: name };
  }
  if (candidate.consolidatableFrom > now) return { reason: "NotConsolidatable", until: candidate.consolidatableFrom };
  return undefined;
}

/** Whether single- and multi-node consolidation may try the node at `now` (ms); empty ones are left to emptiness. */
export function isConsolidationCandidate(candidate: Candidate, now: number): boolean {
  return !isEmpty(candidate) && consolidationBlock(candidate, now) === undefined;
}

/** What taking some nodes away would come to. */
export type Outcome =
  | { readonly decision: "delete" }
  | { readonly decision: "replace"; readonly replacement: PlannedNodeClaim }
  | { readonly decision: "none"; readonly blocked: Blocked };

export interface ConsolidationContext {
  readonly view: ClusterView;
  readonly settings: DisruptionSettings;
  readonly simulate: Simulate;
}

/** USD per hour of what the candidates cost now. */
export function totalPrice(candidates: readonly Candidate[]): number {
  return candidates.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
}

/** Spot for spot (disruption.md §7.3). With one node the list is cut, so that the next cheaper type is not worth another move. */
function spotForSpot(replacement: Replacement, candidates: readonly Candidate[], settings: DisruptionSettings): Replacement | Blocked {
  if (!settings.spotToSpotConsolidation) return { reason: "SpotToSpotDisabled" };
  const cheaper = underPrice(pinnedTo(replacement, "spot"), totalPrice(candidates), cheapestLaunchPrice);
  if ("reason" in cheaper || candidates.length > 1) return cheaper;
  if (cheaper.types.length < SPOT_TO_SPOT_MIN_TYPES) return { reason: "SpotToSpotTooFew", count: cheaper.types.length };
  const { requirements } = cheaper;
  const byPrice = [...cheaper.types].sort(
    (a, b) => cheapestLaunchPrice(a, requirements) - cheapestLaunchPrice(b, requirements) || (a.name < b.name ? -1 : 1),
  );
  for (let count = SPOT_TO_SPOT_MIN_TYPES; count < byPrice.length; count++) {
    const cut = { ...cheaper, types: byPrice.slice(0, count) };
    if (!minValuesShortfall(cut)) return cut;
  }
  return cheaper;
}

/** Cheaper than the nodes it replaces, wherever and however it is launched. */
function cheaperReplacement(
  planned: PlannedNodeClaim,
  candidates: readonly Candidate[],
  { view, settings }: ConsolidationContext,
): Replacement | Blocked {
  const replacement = replacementFrom(planned, view.snapshot.instanceTypes.get(planned.nodePool) ?? []);
  if (allowsCapacityType(replacement, "spot") && candidates.every((candidate) => capacityTypeOf(candidate) === "spot")) {
    return spotForSpot(replacement, candidates, settings);
  }
  const cheaper = underPrice(replacement, totalPrice(candidates));
  if ("reason" in cheaper) return cheaper;
  if (!allowsCapacityType(cheaper, "spot") || !allowsCapacityType(cheaper, "on-demand")) return cheaper;
  // The price was compared as spot: were spot to fail, the launch must not fall back to dearer on-demand.
  const spot = cheaper.types.some((type) =>
    launchOfferings(type, cheaper.requirements).some(({ capacityType }) => capacityType === "spot"),
  );
  const pinned = pinnedTo(cheaper, spot ? "spot" : "on-demand");
  return minValuesShortfall(pinned) ?? pinned;
}

/**
 * What taking these nodes away together would come to: nothing is needed instead, or one cheaper node is (disruption.md §7).
 * `narrow` may cut the replacement down further.
 */
export function consolidate(
  context: ConsolidationContext,
  candidates: readonly Candidate[],
  narrow: (replacement: Replacement) => Replacement | Blocked = (replacement) => replacement,
): Outcome {
  const none = (blocked: Blocked): Outcome => ({ decision: "none", blocked });
  // Nothing saves more than to buy nothing instead: when that is not worth it, no trial is needed.
  const hopeless = notWorthIt(context.view, candidates, totalPrice(candidates));
  if (hopeless) return none(hopeless);
  const trial = tryRemoval(context.view, candidates, context.simulate);
  if (trial.unplaced.length > 0) return none({ reason: "PodsUnplaced", errors: trial.unplaced });
  const [planned, ...more] = trial.newNodeClaims;
  if (!planned) return { decision: "delete" };
  if (more.length > 0) return none({ reason: "SeveralReplacements", count: trial.newNodeClaims.length });
  const cheaper = cheaperReplacement(planned, candidates, context);
  const replacement = "reason" in cheaper ? cheaper : narrow(cheaper);
  if ("reason" in replacement) return none(replacement);
  const narrowed = plannedFrom(replacement);
  const poor = notWorthIt(context.view, candidates, totalPrice(candidates) - narrowed.pricePerHour);
  return poor ? none(poor) : { decision: "replace", replacement: narrowed };
}
