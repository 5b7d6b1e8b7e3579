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
import { cheapestLaunchPrice, launchOfferings, worstLaunchPrice } from "../prices/price.ts";
import { savingsOf, totalPrice } from "../prices/savings.ts";
import type { DisruptionSettings } from "../settings.ts";
import { notWorthIt } from "./balanced.ts";
import { costOfMoreNodes, paybackTooLong } from "./payback.ts";
import {
  allowsCapacityType,
  minValuesShortfall,
  pinnedTo,
  plannedFrom,
  type Replacement,
  replacementFrom,
  underPrice,
} from "./replacement.ts";
import { type Destinations, tryRemoval } from "./simulate.ts";

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

/** Where pods would go. */
export interface Move {
  readonly replacements: readonly PlannedNodeClaim[];
  readonly destinations: Destinations;
}

/** What taking some nodes away would come to. */
export type Outcome =
  | ({ readonly decision: "delete" } & Move)
  | ({ readonly decision: "replace" } & Move)
  | { readonly decision: "none"; readonly blocked: Blocked };

export interface ConsolidationContext {
  readonly view: ClusterView;
  readonly settings: DisruptionSettings;
  readonly simulate: Simulate;
  /** The cluster laid out for many questions about the candidates; without it nodes are tried in Karpenter's way alone. */
  readonly trial?: () => ConsolidationTrial;
}

/** Spot for spot (disruption.md §7.3). With one node the list is cut, so that the next cheaper type is not worth another move. */
function spotForSpot(
  replacement: Replacement,
  limit: number,
  candidates: readonly Candidate[],
  settings: DisruptionSettings,
): Replacement | Blocked {
  if (!settings.spotToSpotConsolidation) return { reason: "SpotToSpotDisabled" };
  // One node is judged as Karpenter does, by the cheapest zone; several must save whatever each comes up as.
  const cheaper = underPrice(pinnedTo(replacement, "spot"), limit, candidates.length > 1 ? worstLaunchPrice : cheapestLaunchPrice);
  if ("reason" in cheaper || candidates.length > 1) return cheaper;
  if (cheaper.types.length < SPOT_TO_SPOT_MIN_TYPES) return { reason: "SpotToSpotTooFew", count: cheaper.types.length };
  return cheapestFew(cheaper, SPOT_TO_SPOT_MIN_TYPES);
}

/** So many of the cheapest types, or more where minValues want more. */
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

/** The planned claim as it stays under `limit` (USD per hour) wherever and however it is launched. */
function cheaperReplacement(
  planned: PlannedNodeClaim,
  limit: number,
  candidates: readonly Candidate[],
  { view, settings }: ConsolidationContext,
): Replacement | Blocked {
  const replacement = replacementFrom(planned, view.snapshot.instanceTypes.get(planned.nodePool) ?? []);
  if (allowsCapacityType(replacement, "spot") && candidates.every((candidate) => capacityTypeOf(candidate) === "spot")) {
    return spotForSpot(replacement, limit, candidates, settings);
  }
  const cheaper = underPrice(replacement, limit);
  if ("reason" in cheaper) return cheaper;
  if (!allowsCapacityType(cheaper, "spot") || !allowsCapacityType(cheaper, "on-demand")) return cheaper;
  // The price was compared as spot: were spot to fail, the launch must not fall back to dearer on-demand.
  const spot = cheaper.types.some((type) =>
    launchOfferings(type, cheaper.requirements).some(({ capacityType }) => capacityType === "spot"),
  );
  const pinned = pinnedTo(cheaper, spot ? "spot" : "on-demand");
  return minValuesShortfall(pinned) ?? pinned;
}

/** CreateFleet takes 60 overrides; more types than these make a command of many replacements large for nothing. */
const TYPES_OF_MANY = 60;

/** Claims that cost less together than the candidates do, whatever each is launched as: what is saved is shared out by their prices. */
function cheaperReplacements(
  planned: readonly PlannedNodeClaim[],
  candidates: readonly Candidate[],
  context: ConsolidationContext,
): readonly Replacement[] | Blocked {
  // Sums of prices differ in their last digits: without this, nodes of one price could take each other's place for ever.
  const costs = totalPrice(candidates) - MIN_SAVINGS;
  const needs = planned.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
  if (planned.length > 1 && needs >= costs) return { reason: "NotCheaper", needs, costs };
  const replacements: Replacement[] = [];
  for (const claim of planned) {
    const limit = planned.length === 1 ? costs : claim.pricePerHour * (costs / needs);
    const cheaper = cheaperReplacement(claim, limit, candidates, context);
    if ("reason" in cheaper) return cheaper.reason === "NotCheaper" && needs >= costs ? { ...cheaper, needs, costs } : cheaper;
    replacements.push(planned.length === 1 ? cheaper : cheapestFew(cheaper, TYPES_OF_MANY));
  }
  return replacements;
}

export interface ConsolidateOptions {
  /** May cut a lone replacement down further. */
  readonly narrow?: (replacement: Replacement) => Replacement | Blocked;
  /** How many nodes may come instead. Default 1, as in Karpenter. */
  readonly mostReplacements?: number;
  /** How long to look for a cheap plan. Default "quick". */
  readonly effort?: Effort;
}

/** What taking these nodes away together would come to: nothing is needed instead, or some nodes that cost less (disruption.md §7). */
export function consolidate(
  context: ConsolidationContext,
  candidates: readonly Candidate[],
  { narrow = (replacement) => replacement, mostReplacements = 1, effort = "quick" }: ConsolidateOptions = {},
): Outcome {
  const none = (blocked: Blocked): Outcome => ({ decision: "none", blocked });
  const refused = (savesPerHour: number): Blocked | undefined =>
    notWorthIt(context.view, candidates, savesPerHour) ?? paybackTooLong(context.settings, candidates, savesPerHour);
  // Nothing saves more than to buy nothing instead: when that is not worth it, no trial is needed.
  const hopeless = refused(totalPrice(candidates));
  if (hopeless) return none(hopeless);
  const trial = tryRemoval(context.view, candidates, context.simulate, { effort });
  if (trial.unplaced.length > 0) return none({ reason: "PodsUnplaced", errors: trial.unplaced });
  const { newNodeClaims: planned, destinations } = trial;
  if (planned.length === 0) return { decision: "delete", replacements: [], destinations };
  if (planned.length > mostReplacements) return none({ reason: "SeveralReplacements", count: planned.length });
  const cheaper = cheaperReplacements(planned, candidates, context);
  if ("reason" in cheaper) return none(cheaper);
  const replacements: PlannedNodeClaim[] = [];
  for (const replacement of cheaper) {
    const narrowed = cheaper.length === 1 ? narrow(replacement) : replacement;
    if ("reason" in narrowed) return none(narrowed);
    replacements.push(plannedFrom(narrowed));
  }
  const savings = savingsOf(candidates, replacements);
  if (savings <= costOfMoreNodes(candidates.length, replacements.length))
    return none({ reason: "SeveralReplacements", count: planned.length });
  const poor = refused(savings);
  return poor ? none(poor) : { decision: "replace", replacements, destinations };
}
