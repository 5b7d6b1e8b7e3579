import { ownValue } from "../lib/own-value.ts";
import { hashedNumber } from "../lib/pseudo-random.ts";
import type { Pod } from "../model/pod.ts";
import { PRICE_TOLERANCE } from "../model/prices.ts";
import { Attempt } from "./attempt.ts";
import { priceOf } from "./claims/assemble.ts";
import { type OpenedDomain, openedDomains } from "./claims/opened-domains.ts";
import { heaviestPoolsFor } from "./problem/heaviest-pools.ts";
import type { PodData } from "./problem/pod-class.ts";
import type { SchedulingProblem } from "./problem/problem.ts";
import type { Strategy } from "./problem/strategy.ts";
import type { TopologyGroup } from "./rules/topology-group.ts";

/** How good an attempt is: fewer unplaced pods first, then fewer pods in lighter pools, then the lower cost. */
interface AttemptScore {
  readonly attempt: Attempt;
  readonly strategy: Strategy;
  /** Number of pods that the attempt does not place. */
  readonly left: number;
  /**
   * By rank of pools (Template.rank): number of pods on claims of this rank or lighter ones that a heavier pool than
   * this rank could have, if it were for the pod alone.
   */
  readonly behind: readonly number[];
  /** What all planned nodes cost, USD per hour: instances, volumes, overhead and surplus credits. */
  readonly cost: number;
  /** Domains that the attempt's claims open, and that count as domains of existing nodes in it. */
  readonly opened: readonly OpenedDomain[];
}

/** "quick" leaves out packing, which pays only for large plans: consolidation solves many small trials. */
export type Effort = "full" | "quick";

/**
 * Work of all attempts together, where pods × (instance types + planned claims + nodes) estimates the work of one. It
 * is older than `npm run -s bench`, and no benchmark has tuned it.
 */
const MAX_WORK = 2_000_000;
/** Attempts of one search. No benchmark has tuned it. */
const MAX_ATTEMPTS = 24;
/**
 * Pods × instance types above which the search makes a single attempt, so that very large clusters are planned in time.
 * No benchmark has tuned it.
 */
const MAX_PRODUCT_FOR_SEVERAL_ATTEMPTS = 15_000_000;
/**
 * Steps of all attempts together (Attempt.steps) after which no further attempt is made. The plans of the given
 * scenarios take a quarter of it; pods that are all different share no work between attempts and take more.
 */
const MAX_STEPS = 2_000_000;
/** The same for the attempts that place left pods first, which matter more. */
const MAX_STEPS_WITH_PODS_LEFT = 10_000_000;
/**
 * From this seed on, attempts by added price keep one order of domains for all claims: pods that share a zone then try
 * each zone together. Of 190 scenarios of `generate.ts` two plans cost less by it, and none lost a pod.
 */
const FIRST_SEED_OF_ONE_ORDER = 4;
/** A single pod has one packing. */
const MIN_PODS_FOR_PACKING = 2;
/**
 * Where all pods follow the proposals of packing, greedy attempts are made for so many pods at most. Of 500 small cases
 * (`npm run -s bench -- optimum`) they improve 16, of which 15 divide pods among zones, by less the more pods there
 * are.
 */
const MAX_PODS_FOR_GREEDY = 50;
/**
 * Greedy attempts end when the first of them costs so many times what packing does. No benchmark has tuned it.
 */
const GREEDY_REACH = 1.2;

/**
 * Where anti-affinity asks for as many nodes as there are, packing can only choose other sizes. It is tried for so many
 * pods: 100 pods of Karpenter's mix (`npm run -s bench`) would take twice as long and gain nothing.
 */
const MAX_PODS_FOR_OTHER_SIZES = 50;

/**
 * The best of several attempts. One greedy attempt is quick and gives one plan of many, so the search tries several
 * strategies and keeps the plan that leaves the fewest pods, among these the one with the fewest pods in lighter pools,
 * and then the cheapest. The number of attempts follows from the size of the problem, never from a clock, so that
 * the same input always gives the same plan.
 *
 * A better total must not cost a class its pods: every pod that Karpenter's strategy places stays placed, counted by
 * class. Large pods are therefore not left for more small ones, and no cluster places fewer pods of a class than with
 * Karpenter.
 */
export function bestAttempt(problem: SchedulingProblem, effort: Effort): Attempt {
  const attempt = searched(problem, effort);
  attempt.limits.widen();
  return attempt;
}

/** The best attempt; its claims hold no more types than they are charged for. */
function searched(problem: SchedulingProblem, effort: Effort): Attempt {
  const pods = problem.classes.reduce((sum, { pods: alike }) => sum + alike.length, 0);
  const types = problem.templates.reduce((highest, { table }) => Math.max(highest, table.types.length), 0);
  const search = new Search(problem);
  const packed: Strategy = { claims: "packed", classes: bySize(problem, true), seed: 0 };
  const greedy: Strategy = { ...packed, claims: "least-added-price" };
  const isLarge = pods * types > MAX_PRODUCT_FOR_SEVERAL_ATTEMPTS;
  const fewest = minClaimsByAntiAffinity(problem);
  const packs = canBePacked(problem) && (isLarge || (effort === "full" && pods >= MIN_PODS_FOR_PACKING && pods > fewest));
  // Where anti-affinity asks for many nodes, the greedy attempt shows whether packing may gain.
  const isPackedFirst = packs && (isLarge || fewest === 0);
  search.try(isPackedFirst ? packed : greedy);
  const { attempt, cost } = search.best;
  if (attempt.claims.length === 0 && attempt.failed.size === 0) return attempt;
  const follows = attempt.follows(cost);
  const isDone = follows === "optimal" || (follows === "packed" && pods > MAX_PODS_FOR_GREEDY);
  if (!isLarge && !isDone) {
    if (isPackedFirst) search.try(greedy);
    else if (packs && (attempt.claims.length > fewest || pods <= MAX_PODS_FOR_OTHER_SIZES)) search.try(packed);
    const attempts = Math.min(MAX_ATTEMPTS, Math.floor(MAX_WORK / (pods * (types + attempt.claims.length + problem.nodes.length + 1))));
    if (attempts > 2)
      for (const strategy of strategies(problem, attempts)) if (search.steps < MAX_STEPS && search.mayGain) search.try(strategy);
  }
  if (search.best.left > 0) {
    search.try(KARPENTERS_STRATEGY);
    // A class that fitted nowhere may fit if it is placed first: other pods took its room, or the first pod that it has
    // affinity for went to another domain.
    const failed = new Set(search.best.attempt.failed.keys());
    const others = problem.classes.flatMap(({ index }) => (failed.has(index) ? [] : [index]));
    const failedFirst = [...failed, ...others];
    for (const claims of ["fewest-pods", "least-added-price"] as const) {
      if (search.steps < MAX_STEPS_WITH_PODS_LEFT) search.try({ claims, classes: failedFirst, seed: 0 });
    }
    const hasAlternatives = [...failed].some((index) => problem.relaxations[index]?.some(isAlternativeWithSpread));
    for (const strategy of hasAlternatives
      ? [KARPENTERS_STRATEGY, { claims: "fewest-pods", classes: failedFirst, seed: 0 } as const]
      : []) {
      if (search.steps < MAX_STEPS_WITH_PODS_LEFT) search.try({ ...strategy, countsOpenDomains: true });
    }
    // Pods that disruption moves keep the spread that they have.
    const stillFailed = [...search.best.attempt.failed.keys()];
    const isSpread = stillFailed.some((index) => problem.relaxations[index]?.some(hasHardSpread));
    for (const strategy of isSpread && problem.moved.size === 0 ? [search.best.strategy, KARPENTERS_STRATEGY] : []) {
      if (search.steps < MAX_STEPS_WITH_PODS_LEFT) search.try({ ...strategy, leavesOutImpossible: true });
    }
  }
  return search.best.attempt;
}

/** Whether a pod has a hard spread, and the step one of several terms of node affinity. */
function isAlternativeWithSpread(podData: PodData): boolean {
  return podData.isAlternative && hasHardSpread(podData);
}

function hasHardSpread({ deciding, hard }: PodData): boolean {
  return deciding.some((group) => group.kind === "spread" && hard.has(group));
}

/**
 * False with capacity reservations: their instances are counted claim by claim, and packing proposes all claims
 * beforehand.
 */
function canBePacked({ templates }: SchedulingProblem): boolean {
  return templates.every(({ table }) => !table.hasReserved);
}

/** The largest number of pods of which no two may share a host: packing cannot make do with fewer claims than that. */
function minClaimsByAntiAffinity({ classes, relaxations }: SchedulingProblem): number {
  const pods = new Map<TopologyGroup, number>();
  for (const { index, pods: alike } of classes) {
    for (const group of relaxations[index]?.[0]?.hosts ?? []) {
      if (group.kind === "anti" && relaxations[index]?.[0]?.self.has(group)) pods.set(group, (pods.get(group) ?? 0) + alike.length);
    }
  }
  return Math.max(0, ...pods.values());
}

/**
 * Karpenter's choice: the planned claim with the fewest pods that takes the pod
 * (karpenter: pkg/controllers/provisioning/scheduling/scheduler.go, Scheduler.add).
 */
const KARPENTERS_STRATEGY: Strategy = { claims: "fewest-pods", seed: 0, isKarpenters: true };

/** The attempts made so far, and the best of them. */
class Search {
  readonly #problem: SchedulingProblem;
  readonly #heaviestRanks: HeaviestRanks | undefined;
  readonly #scores: AttemptScore[] = [];
  #karpenters: AttemptScore | undefined;
  #best: AttemptScore | undefined;
  /** Steps of all attempts (Attempt.steps). */
  steps = 0;

  constructor(problem: SchedulingProblem) {
    this.#problem = problem;
    this.#heaviestRanks = heaviestRanksOf(problem);
  }

  try(strategy: Strategy): void {
    if (strategy === KARPENTERS_STRATEGY && this.#karpenters !== undefined) return;
    const score = scored(this.#problem, strategy, this.#heaviestRanks);
    this.#scores.push(score);
    this.steps += score.attempt.steps;
    if (strategy === KARPENTERS_STRATEGY) this.#karpenters = score;
    this.#best = undefined;
  }

  /** Whether greedy attempts may come out cheaper: not when packing is far below the first of them. */
  get mayGain(): boolean {
    const { attempt, cost } = this.best;
    if (attempt.follows(cost) === undefined) return true;
    return this.#scores.some((score) => score.attempt !== attempt && score.cost < GREEDY_REACH * cost);
  }

  get best(): AttemptScore {
    this.#best ??= this.#scores.filter((score) => this.#isFair(score)).reduce(better);
    return this.#best;
  }

  /**
   * Whether the attempt places every pod that Karpenter's strategy places; true while that was not tried. The last pods
   * of a class are left first, so their number by class is enough to compare.
   */
  #isFair({ attempt }: AttemptScore): boolean {
    const karpenters = this.#karpenters?.attempt.failed;
    if (karpenters === undefined) return true;
    for (const [index, pods] of attempt.failed) if (pods.length > (karpenters.get(index)?.length ?? 0)) return false;
    return true;
  }
}

function scored(problem: SchedulingProblem, strategy: Strategy, heaviestRanks: HeaviestRanks | undefined): AttemptScore {
  const opened: OpenedDomain[] = [];
  let attempt = new Attempt(problem, strategy).run();
  for (;;) {
    const more = openedDomains(problem, attempt.claims, attempt.topology);
    if (more.length === 0) break;
    for (const { group, domain } of more) group.present.add(domain);
    opened.push(...more);
    attempt = new Attempt(problem, strategy).run();
  }
  // Another attempt need not open them.
  for (const { group, domain } of opened) group.present.delete(domain);
  let left = 0;
  for (const pods of attempt.failed.values()) left += pods.length;
  const behind = heaviestRanks === undefined ? [] : podsBehind(attempt, heaviestRanks);
  return { attempt, strategy, left, behind, cost: planCost(attempt), opened };
}

/** What all planned nodes of an attempt cost, USD per hour: instances, surplus credits, overhead and volumes. */
export function planCost({ claims, problem: { sets } }: Pick<Attempt, "claims" | "problem">): number {
  return claims.reduce((sum, claim) => sum + priceOf(claim, sets) + claim.template.costs.perNode, 0);
}

/** By pod: the rank of the heaviest pools that can launch a node for it. */
type HeaviestRanks = ReadonlyMap<Pod, number>;

/** Undefined when all pools have one weight, so that ranks do not matter. */
function heaviestRanksOf(problem: SchedulingProblem): HeaviestRanks | undefined {
  if ((problem.templates.at(-1)?.rank ?? 0) === 0) return undefined;
  const ranks = problem.classes.map(({ index }) => {
    const podData = problem.relaxations[index]?.[0];
    return podData === undefined ? undefined : heaviestPoolsFor(problem, podData)?.pools[0]?.rank;
  });
  return new Map(problem.classes.flatMap(({ pods, index }) => pods.map((pod) => [pod, ranks[index] ?? Number.POSITIVE_INFINITY] as const)));
}

/** AttemptScore.behind. */
function podsBehind({ claims, problem }: Attempt, heaviestRanks: HeaviestRanks): readonly number[] {
  const behind = Array.from({ length: 1 + (problem.templates.at(-1)?.rank ?? 0) }, () => 0);
  for (const { template, pods } of claims) {
    for (const pod of pods) {
      for (let rank = 1 + (heaviestRanks.get(pod) ?? 0); rank <= template.rank; rank++) behind[rank] = (behind[rank] ?? 0) + 1;
    }
  }
  return behind;
}

/** The better of two attempts; the first of equal ones. A pool's weight decides before the price. */
export function better<Score extends Omit<AttemptScore, "attempt" | "strategy" | "opened">>(a: Score, b: Score): Score {
  if (b.left !== a.left) return b.left < a.left ? b : a;
  for (let rank = 1; rank < a.behind.length; rank++) {
    const [ours, theirs] = [a.behind[rank] ?? 0, b.behind[rank] ?? 0];
    if (ours !== theirs) return theirs < ours ? b : a;
  }
  return b.cost < a.cost - PRICE_TOLERANCE ? b : a;
}

/** The strategies after the first, up to a number of attempts: five fixed ones, then shuffled orders. */
function* strategies(problem: SchedulingProblem, attempts: number): Generator<Strategy> {
  yield KARPENTERS_STRATEGY;
  yield { claims: "least-added-price", classes: bySize(problem, false), seed: 0 };
  yield { claims: "least-added-price", classes: ownersFirst(problem), seed: 0 };
  yield { claims: "least-added-price", seed: 0 };
  yield { claims: "oldest", seed: 0 };
  const kinds = ["least-added-price", "fewest-pods", "oldest"] as const;
  for (let n = 3; n < attempts; n++) {
    const [seed, kind] = [Math.floor(n / 3), kinds[n % 3] ?? "oldest"];
    const isOneOrder = kind === "fewest-pods" || (kind === "least-added-price" && seed >= FIRST_SEED_OF_ONE_ORDER);
    yield { claims: kind, classes: shuffled(problem, seed), seed: isOneOrder ? -seed : seed };
  }
}

/**
 * Classes by falling share of all pods' requests, summed over resources. (Karpenter's queue compares cpu first, and so
 * puts pods that are large in memory alone last.) With `constrainedFirst`, classes with requirements, topology rules or
 * volumes come first, and the others fill the gaps.
 */
function bySize({ classes, relaxations, axis }: SchedulingProblem, constrainedFirst: boolean): readonly number[] {
  const sizes = axis.names.map((name) =>
    name === "pods" ? 0 : classes.reduce((sum, c) => sum + (ownValue(c.requests, name) ?? 0) * c.pods.length, 0),
  );
  return classes
    .map(({ index, requests }) => {
      const podData = relaxations[index]?.[0];
      const isConstrained =
        podData !== undefined && (podData.hasTopology || podData.set.requirements.size > 0 || podData.class.volumeAlternatives.length > 0);
      const share = axis.names.reduce(
        (sum, name, r) => sum + ((sizes[r] ?? 0) > 0 ? (ownValue(requests, name) ?? 0) / (sizes[r] ?? 1) : 0),
        0,
      );
      return { index, first: constrainedFirst && isConstrained ? 1 : 0, share };
    })
    .sort((a, b) => b.first - a.first || b.share - a.share || a.index - b.index)
    .map(({ index }) => index);
}

/**
 * Classes in the order of the queue, each moved by a pseudo-random distance, so that large ones still come first on the
 * whole.
 */
function shuffled(problem: SchedulingProblem, seed: number): readonly number[] {
  if (seed % 2 === 1) return problem.classes.map(({ index }) => index);
  const reach = 1 + problem.classes.length / 4;
  return problem.classes
    .map(({ index }) => ({ index, at: index + (hashedNumber(seed, `class ${index}`) / 2 ** 32) * reach }))
    .sort((a, b) => a.at - b.at || a.index - b.index)
    .map(({ index }) => index);
}

/**
 * By size, but pods with a hard spread come before pods that only count in that spread. Those would fill domains that
 * the others need and they do not.
 */
function ownersFirst(problem: SchedulingProblem): readonly number[] {
  const rankOf = (index: number): number => {
    const podData = problem.relaxations[index]?.[0];
    if (podData === undefined) return 1;
    const owns = podData.deciding.some((group) => group.kind === "spread" && podData.hard.has(group));
    const isCountedOnly = podData.counting.some((group) => group.kind === "spread" && !podData.deciding.includes(group));
    return owns ? (isCountedOnly ? 1 : 0) : isCountedOnly ? 3 : 2;
  };
  return [...bySize(problem, true)].sort((a, b) => rankOf(a) - rankOf(b));
}
