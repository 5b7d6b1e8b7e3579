import { brokenRules, judge } from "../support/scheduling/check-plan.ts";
import { isHeavier, lighterThanNeeded } from "../support/scheduling/check-weights.ts";
import { claimCost } from "../support/scheduling/claim-cost.ts";
import { claimPrice } from "../support/scheduling/claim-price.ts";
import type { RawJson } from "../support/scheduling/judge-rules.ts";

/** Prices closer than this are equal (USD per hour), because they are sums of floats. */
const PRICE_TOLERANCE = 1e-6;

/** Our plan of a scenario compared with Karpenter's answers, one answer a run. */
export interface KarpenterComparison {
  /** The hard rules that our plan breaks, one sentence each. */
  readonly broken: readonly string[];
  /** Pods that we leave pending and that Karpenter placed in every run without breaking a rule. */
  readonly left: readonly string[];
  /** Pods that we leave pending and that Karpenter placed in some runs without breaking a rule. */
  readonly leftSometimes: readonly string[];
  /** Pods that we place and that Karpenter left pending in some run. */
  readonly more: readonly string[];
  /** USD per hour of our planned NodeClaims, as AWS bills their instances. */
  readonly price: number;
  /** What their nodes cost their owner, USD per hour (claimCost). */
  readonly cost: number;
  /**
   * The same of the run of Karpenter with the lowest cost that placed exactly our pods, broke no rule and has as many
   * pods as our plan in heavier NodePools; undefined when no run did.
   */
  readonly best: { readonly price: number; readonly cost: number; readonly nodes: number } | undefined;
  /** The cheapest run of Karpenter, whatever it placed and whether or not it breaks a rule. */
  readonly cheapest: number;
  /** By cost: fewer nodes may be worth a little more for their instances. */
  readonly isDearer: boolean;
  /** Pods that we put into a lighter NodePool although a heavier one could take them, one sentence each. */
  readonly lighter: readonly string[];
}

/** Compares a plan with Karpenter's answers. Plan and answers have the shape of `solve`'s output. */
export function compareWithKarpenter(scenario: RawJson, plan: RawJson, answers: readonly RawJson[]): KarpenterComparison {
  const ours = placedBy(plan);
  const price = priceOf(scenario, plan);
  const runs = answers.map((answer) => {
    // A pod that kube-scheduler would refuse to bind does not count as placed.
    const unlawful = new Set(judge(scenario, answer).flatMap(({ pods }) => pods));
    const keepsWeights = !isHeavier(scenario, plan, answer);
    const nodes = answer.newNodeClaims.length;
    return { placed: placedBy(answer), unlawful, keepsWeights, nodes, price: priceOf(scenario, answer), cost: costOf(scenario, answer) };
  });
  const everPlaced = new Set(runs.flatMap(({ placed, unlawful }) => [...placed].filter((pod) => !unlawful.has(pod))));
  const leftSometimes = [...everPlaced].filter((pod) => !ours.has(pod));
  const left = leftSometimes.filter((pod) => runs.every(({ placed, unlawful }) => placed.has(pod) && !unlawful.has(pod)));
  const comparable = runs.filter(
    ({ placed, unlawful, keepsWeights }) => keepsWeights && unlawful.size === 0 && placed.symmetricDifference(ours).size === 0,
  );
  const [best] = comparable.sort((a, b) => a.cost - b.cost);
  const cost = costOf(scenario, plan);
  return {
    broken: brokenRules(scenario, plan),
    left,
    leftSometimes: leftSometimes.filter((pod) => !left.includes(pod)),
    more: [...ours].filter((pod) => runs.some(({ placed }) => !placed.has(pod))),
    price,
    cost,
    best: best && { price: best.price, cost: best.cost, nodes: best.nodes },
    cheapest: Math.min(...runs.map((run) => run.price)),
    lighter: lighterThanNeeded(scenario, plan).map(({ text, pods }) => `${text}: ${pods.join()}`),
    isDearer: best !== undefined && cost > best.cost + PRICE_TOLERANCE,
  };
}

function placedBy(plan: RawJson): Set<string> {
  return new Set([...plan.newNodeClaims, ...plan.existingNodes].flatMap(({ pods }: { readonly pods: readonly string[] }) => pods));
}

function priceOf(scenario: RawJson, plan: RawJson): number {
  return plan.newNodeClaims.reduce((sum: number, claim: RawJson) => sum + claimPrice(scenario, claim), 0);
}

function costOf(scenario: RawJson, plan: RawJson): number {
  return plan.newNodeClaims.reduce((sum: number, claim: RawJson) => sum + claimCost(scenario, claim), 0);
}
