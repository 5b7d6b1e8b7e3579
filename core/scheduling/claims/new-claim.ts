import type { PodData } from "../problem/pod-class.ts";
import type { Template } from "../problem/template.ts";
import { isEmpty } from "../tables/bitset.ts";
import type { Evaluation } from "./evaluation.ts";
import type { Limits } from "./limits.ts";
import type { ClaimOutcome } from "./outcome.ts";
import { PlannedClaim } from "./planned-claim.ts";

/** A claim that takes a pod, and what it becomes with the pod. */
export interface ClaimWithPod {
  readonly claim: PlannedClaim;
  readonly outcome: ClaimOutcome;
}

/** What a new claim's node would cost, USD per hour. */
export function costOf({ claim: { template }, outcome }: ClaimWithPod): number {
  return template.costs.perNode + outcome.price;
}

/** What new claims are made with. */
export interface ClaimMaker {
  readonly evaluation: Evaluation;
  readonly limits: Limits;
  /** Number of resources. */
  readonly width: number;
}

/**
 * A new claim for a pod, with `index` as its own, of the cheapest of some pools; with `takesFirst`, of the first that
 * can make a node. "reserved" when the capacity reservations that suit the pod are taken and the pod has to wait.
 */
export function newClaimFor(
  podData: PodData,
  templates: readonly Template[],
  index: number,
  { evaluation, limits, width }: ClaimMaker,
  takesFirst = false,
): ClaimWithPod | "reserved" | undefined {
  let best: ClaimWithPod | undefined;
  for (const template of templates) {
    if (isEmpty(limits.typesWithin(template))) continue;
    const claim = new PlannedClaim(index, template, limits.base(template), width);
    const outcome = evaluation.evaluate(claim, podData);
    if (outcome === "reserved" && best === undefined) return "reserved";
    if (typeof outcome !== "object" || (best !== undefined && costOf({ claim, outcome }) >= costOf(best))) continue;
    best = { claim, outcome };
    if (takesFirst) return best;
  }
  return best;
}

/**
 * An estimate of a new claim's cost for a pod, USD per hour: for the cheapest of some pools, the highest over the
 * domains that a topology rule may narrow the claim to (empty for any). Infinity without a claim.
 */
export function likelyPriceFor(
  podData: PodData,
  templates: readonly Template[],
  domains: readonly string[],
  { evaluation, width }: ClaimMaker,
): number {
  let lowest = Number.POSITIVE_INFINITY;
  for (const template of templates) {
    const claim = new PlannedClaim(0, template, template.types, width);
    const prices = (domains.length === 0 ? [undefined] : domains).flatMap(
      (domain) => evaluation.leastAddedPrice(claim, podData, domain) ?? [],
    );
    if (prices.length > 0) lowest = Math.min(lowest, template.costs.perNode + Math.max(...prices));
  }
  return lowest;
}
