// Consolidation of a given set of candidates. In come candidates, out comes an Outcome: delete, replace, or why
// neither. Which sets are tried is decided in node-sets and methods and not known here; prices and budgets are not
// changed.

import { CAPACITY_TYPE, ZONE } from "../../model/labels.ts";
import type { PlannedNodeClaim } from "../../model/plan.ts";
import { MIN_SAVINGS } from "../../model/prices.ts";
import type { ConsolidationTrial } from "../../scheduling/make-trial.ts";
import type { Effort } from "../../scheduling/search.ts";
import type { Blocked } from "../cluster/blocked.ts";
import { type Candidate, capacityTypeOf, hasNothingToMove, instanceTypeNameOf, isEmpty } from "../cluster/candidate.ts";
import { consolidateAfterMs } from "../cluster/consolidate-after.ts";
import type { Simulate } from "../cluster/simulation.ts";
import type { ClusterView } from "../cluster/view.ts";
import { costed, totalCost } from "../prices/cost.ts";
import { cheapestLaunchPrice, launchOfferings, typesOfPlanned, worstLaunchPrice } from "../prices/price.ts";
import { savingsOf, totalPrice } from "../prices/savings.ts";
import type { DisruptionSettings } from "../settings.ts";
import { notWorthIt } from "./balanced.ts";
import { costSavedBy, type Move, surplusAdded } from "./cost-saved.ts";
import { paybackTooLong } from "./payback.ts";
import {
  allowsCapacityType,
  minValuesShortfall,
  pinnedTo,
  plannedFrom,
  type Replacement,
  replacementFrom,
  underPrice,
} from "./replacement.ts";
import { tryRemoval } from "./simulate.ts";

/**
 * A single spot node is replaced by spot only with at least this many cheaper instance types: with fewer, it would be
 * replaced again and again by the cheapest, whose capacity runs out
 * (karpenter: pkg/controllers/disruption/consolidation.go, MinInstanceTypesForSpotToSpotConsolidation).
 */
const SPOT_TO_SPOT_MIN_TYPES = 15;

/**
 * Why consolidation does not try a candidate; undefined when it may
 * (karpenter: pkg/controllers/disruption/consolidation.go, consolidation.ShouldDisrupt).
 */
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

/** Whether single- and multi-node consolidation may try the node at `now` (ms); empty nodes belong to Emptiness. */
export function isConsolidationCandidate(candidate: Candidate, now: number): boolean {
  return !isEmpty(candidate) && consolidationBlock(candidate, now) === undefined;
}

/**
 * What the removal of some nodes comes to: "delete" needs no new node, "replace" needs cheaper ones, "none" is not
 * done.
 */
export type ConsolidationOutcome =
  | ({ readonly decision: "delete" } & Move)
  | ({ readonly decision: "replace" } & Move)
  | { readonly decision: "none"; readonly blocked: Blocked };

/** What every consolidation method of a pass works with. */
export interface ConsolidationContext {
  readonly view: ClusterView;
  readonly settings: DisruptionSettings;
  readonly simulate: Simulate;
  /** The trial cluster, made on the first call; without it, nodes are chosen in Karpenter's way alone. */
  readonly trial?: () => ConsolidationTrial;
  /** Names of nodes that no pod is moved to. */
  readonly closed?: ReadonlySet<string>;
}

/**
 * The replacement of spot nodes by spot. For one node the types are cut to the cheapest few, so that it is not replaced
 * again for the next cheaper type
 * (karpenter: pkg/controllers/disruption/consolidation.go, consolidation.computeSpotToSpotConsolidation).
 */
function spotForSpot(
  replacement: Replacement,
  limit: number,
  candidates: readonly Candidate[],
  settings: DisruptionSettings,
): Replacement | Blocked {
  if (!settings.spotToSpotConsolidation) return { reason: "SpotToSpotDisabled" };
  // One node is priced at the cheapest zone, as in Karpenter; several must save in whichever zone each is launched.
  const cheaper = underPrice(pinnedTo(replacement, "spot"), limit, candidates.length > 1 ? worstLaunchPrice : cheapestLaunchPrice);
  if ("reason" in cheaper || candidates.length > 1) return cheaper;
  if (cheaper.types.length < SPOT_TO_SPOT_MIN_TYPES) return { reason: "SpotToSpotTooFew", count: cheaper.types.length };
  return cheapestFew(cheaper, SPOT_TO_SPOT_MIN_TYPES);
}

/** The `least` cheapest types, or more where minValues need more. */
function cheapestFew(replacement: Replacement, least: number): Replacement {
  const { requirements } = replacement;
  const byPrice = [...replacement.types].sort(
    (a, b) => cheapestLaunchPrice(a, requirements) - cheapestLaunchPrice(b, requirements) || (a.name < b.name ? -1 : 1),
  );
  for (let count = least; count < byPrice.length; count++) {
    const cut = { ...replacement, types: byPrice.slice(0, count) };
    if (!minValuesShortfall(cut)) return cut;
  }
  return replacement;
}

/**
 * The planned claim, narrowed so that it costs less than `limit` (USD per hour) however it is launched; a reason when
 * it cannot.
 */
function cheaperReplacement(
  planned: PlannedNodeClaim,
  limit: number,
  candidates: readonly Candidate[],
  { view, settings, spareSurplus }: ConsolidationContext & Pick<Replacement, "spareSurplus">,
): Replacement | Blocked {
  const types = typesOfPlanned(planned, view.snapshot);
  const replacement = replacementFrom(planned, types, view.costs, spareSurplus);
  if (allowsCapacityType(replacement, "spot") && candidates.every((candidate) => capacityTypeOf(candidate) === "spot")) {
    return spotForSpot(replacement, limit, candidates, settings);
  }
  const cheaper = underPrice(replacement, limit);
  if ("reason" in cheaper) return cheaper;
  if (!allowsCapacityType(cheaper, "spot") || !allowsCapacityType(cheaper, "on-demand")) return cheaper;
  // The price was compared as spot: when spot fails, the launch must not fall back to more expensive on-demand.
  const spot = cheaper.types.some((type) =>
    launchOfferings(type, cheaper.requirements).some(({ capacityType }) => capacityType === "spot"),
  );
  const pinned = pinnedTo(cheaper, spot ? "spot" : "on-demand");
  return minValuesShortfall(pinned) ?? pinned;
}

/**
 * Instance types of each of several replacements. CreateFleet takes 60 overrides, so more types only make a command
 * with many replacements large.
 */
const MAX_TYPES_PER_REPLACEMENT = 60;

/**
 * Replacements that cost less together than the candidates, however each is launched: each may cost its share of the
 * candidates' price, in proportion to the planned prices. Both limits are strict.
 */
function cheaperReplacements(
  planned: readonly PlannedNodeClaim[],
  candidates: readonly Candidate[],
  context: ConsolidationContext,
): readonly Replacement[] | Blocked {
  const costs = totalPrice(candidates) - MIN_SAVINGS;
  const needs = planned.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
  if (planned.length > 1 && needs >= costs) return { reason: "NotCheaper", needs, costs };
  const spare = candidates.reduce((sum, { surplusPerHour }) => sum + surplusPerHour, 0);
  const replacements: Replacement[] = [];
  for (const claim of planned) {
    const limit = planned.length === 1 ? costs : claim.pricePerHour * (costs / needs);
    const cheaper = cheaperReplacement(claim, limit, candidates, { ...context, spareSurplus: spare / planned.length });
    if ("reason" in cheaper) return cheaper.reason === "NotCheaper" && needs >= costs ? { ...cheaper, needs, costs } : cheaper;
    replacements.push(planned.length === 1 ? cheaper : cheapestFew(cheaper, MAX_TYPES_PER_REPLACEMENT));
  }
  return replacements;
}

/** How `consolidate` treats replacements. */
interface ConsolidateOptions {
  /** Narrows a lone replacement further. */
  readonly narrow?: (replacement: Replacement) => Replacement | Blocked;
  /** How many replacements are allowed. Default 1, as in Karpenter. */
  readonly mostReplacements?: number;
  /** How much the scheduler searches for a cheap plan. Default "quick". */
  readonly effort?: Effort;
}

/**
 * Simulates the removal of the candidates together: "delete" when their pods fit on other nodes, "replace" when cheaper
 * nodes can take them, otherwise why not
 * (karpenter: pkg/controllers/disruption/consolidation.go, consolidation.computeConsolidation).
 */
export function consolidate(
  context: ConsolidationContext,
  candidates: readonly Candidate[],
  { narrow = (replacement) => replacement, mostReplacements = 1, effort = "quick" }: ConsolidateOptions = {},
): ConsolidationOutcome {
  const isPaidFor = candidates.every((candidate) => candidate.isPaidFor);
  const none = (blocked: Blocked): ConsolidationOutcome => ({
    decision: "none",
    blocked: isPaidFor && blocked.reason === "NotCheaper" ? { ...blocked, isPaidFor } : blocked,
  });
  const { view, settings } = context;
  const costs = totalCost(candidates);
  // Balanced scores count prices of instances, as in Karpenter; payback counts what nodes cost their owner.
  const refused = (priceSaved: number, costSaved: number): Blocked | undefined =>
    notWorthIt(view, candidates, priceSaved) ?? paybackTooLong(settings, candidates, costSaved);
  // No result saves more than the candidates cost: when that is too little, no simulation is needed.
  const refusedAtBest = refused(totalPrice(candidates), costs);
  if (refusedAtBest) return none(refusedAtBest);
  const trial = tryRemoval(view, candidates, context.simulate, { effort, ...(context.closed && { closed: context.closed }) });
  if (trial.unplaced.length > 0) return none({ reason: "PodsUnplaced", errors: trial.unplaced });
  const { newNodeClaims: planned, destinations } = trial;
  const surplus = surplusAdded(view, candidates, destinations);
  if (surplus > 0 && surplus >= costs) return none({ reason: "SurplusCredits", needs: surplus, costs });
  if (planned.length === 0) {
    const poor = refused(totalPrice(candidates), costs - surplus);
    return poor ? none(poor) : { decision: "delete", replacements: [], destinations };
  }
  if (planned.length > mostReplacements) return none({ reason: "SeveralReplacements", count: planned.length });
  const cheaper = cheaperReplacements(planned, candidates, context);
  if ("reason" in cheaper) return none(cheaper);
  const replacements: PlannedNodeClaim[] = [];
  for (const replacement of cheaper) {
    const narrowed = cheaper.length === 1 ? narrow(replacement) : replacement;
    if ("reason" in narrowed) return none(narrowed);
    replacements.push(plannedFrom(narrowed));
  }
  const costSaved = costSavedBy(view, candidates, { replacements, destinations });
  if (costSaved <= 0)
    return none(
      replacements.length > candidates.length
        ? { reason: "SeveralReplacements", count: planned.length }
        : { reason: "SurplusCredits", needs: totalCost(costed(replacements, view.snapshot, view.costs)) + surplus, costs },
    );
  const poor = refused(savingsOf(candidates, replacements), costSaved);
  return poor ? none(poor) : { decision: "replace", replacements, destinations };
}
