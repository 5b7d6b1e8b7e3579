import { brokenRules, judge } from "../support/scheduling/check-plan.ts";
import { claimPrice } from "../support/scheduling/claim-price.ts";
import type { RawJson } from "../support/scheduling/judge-rules.ts";

/** Prices closer than this are equal (USD per hour): sums of floats. */
const SAME = 1e-6;

/** What our plan of a scenario is worth beside Karpenter's answers to it, one answer a run. */
export interface KarpenterComparison {
  /** Hard rules that our plan breaks, one sentence each. */
  readonly broken: readonly string[];
  /** Pods that we leave and that Karpenter placed lawfully in every run. */
  readonly left: readonly string[];
  /** Pods that we leave and that Karpenter placed lawfully in some of its runs. */
  readonly leftSometimes: readonly string[];
  /** Pods that we place and that Karpenter left in some run. */
  readonly more: readonly string[];
  /** USD per hour of our claims. */
  readonly price: number;
  /** The cheapest run of Karpenter that placed lawfully just the pods that we place; undefined when no run did. */
  readonly best: number | undefined;
  /** The cheapest run of Karpenter whatever it placed, lawful or not. */
  readonly cheapest: number;
  readonly isDearer: boolean;
}

/** Holds a plan against Karpenter's. Answers and plan are in the shape of `solve`'s output. */
export function compareWithKarpenter(scenario: RawJson, plan: RawJson, answers: readonly RawJson[]): KarpenterComparison {
  const ours = placedBy(plan);
  const price = priceOf(scenario, plan);
  const runs = answers.map((answer) => {
    // A placement that kube-scheduler would refuse is no model.
    const unlawful = new Set(judge(scenario, answer).flatMap(({ pods }) => pods));
    return { placed: placedBy(answer), unlawful, price: priceOf(scenario, answer) };
  });
  const everPlaced = new Set(runs.flatMap(({ placed, unlawful }) => [...placed].filter((pod) => !unlawful.has(pod))));
  const leftSometimes = [...everPlaced].filter((pod) => !ours.has(pod));
  const left = leftSometimes.filter((pod) => runs.every(({ placed, unlawful }) => placed.has(pod) && !unlawful.has(pod)));
  const comparable = runs.filter(({ placed, unlawful }) => unlawful.size === 0 && placed.symmetricDifference(ours).size === 0);
  const best = comparable.length === 0 ? undefined : Math.min(...comparable.map((run) => run.price));
  return {
    broken: brokenRules(scenario, plan),
    left,
    leftSometimes: leftSometimes.filter((pod) => !left.includes(pod)),
    more: [...ours].filter((pod) => runs.some(({ placed }) => !placed.has(pod))),
    price,
    best,
    cheapest: Math.min(...runs.map((run) => run.price)),
    isDearer: best !== undefined && price > best + SAME,
  };
}

function placedBy(plan: RawJson): Set<string> {
  return new Set([...plan.newNodeClaims, ...plan.existingNodes].flatMap(({ pods }: { readonly pods: readonly string[] }) => pods));
}

function priceOf(scenario: RawJson, plan: RawJson): number {
  return plan.newNodeClaims.reduce((sum: number, claim: RawJson) => sum + claimPrice(scenario, claim), 0);
}
