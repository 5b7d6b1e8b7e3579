import { mixed } from "../lib/pseudo-random.ts";
import { PRICE_TOLERANCE } from "../model/prices.ts";
import { Attempt } from "./attempt.ts";
import { priceOf } from "./claims/assemble.ts";
import type { SchedulingProblem } from "./problem/problem.ts";
import type { Strategy } from "./problem/strategy.ts";
import type { TopologyGroup } from "./rules/topology-group.ts";

/** How good an attempt is: pods left first, then price. */
interface Score {
  readonly attempt: Attempt;
  readonly left: number;
  /** USD per hour of all claims, with what their nodes cost beside the instance. */
  readonly price: number;
}

/** "quick" leaves out what pays for large plans alone: for trials of which there are many. */
export type Effort = "full" | "quick";

/** Attempts that a run may make, by work: pods × (instance types + planned claims + nodes) stands for the time of one. */
const WORK_BUDGET = 2_000_000;
const MOST_ATTEMPTS = 24;
/** Pods × instance types beyond which one attempt has to do. */
const LONE_ATTEMPT = 15_000_000;
/** With fewer pods than this all ways of packing are few, and the other attempts find the best. */
const MIN_PODS_FOR_PACKING = 6;

/**
 * Greedy packing gives one plan of many, and it is quick: so try several ways, and keep the plan that leaves the fewest pods and, of those, the
 * cheapest. The number of attempts follows from the size of the problem, never from a clock: the same input always gives the same plan.
 *
 * No attempt wins by leaving others: what Karpenter's way of packing places stays placed, class by class. Large pods are not starved for
 * the sake of more small ones, and nobody loses a pod by moving to this scheduler.
 */
export function bestAttempt(problem: SchedulingProblem, effort: Effort): Attempt {
  const pods = problem.classes.reduce((sum, { pods: alike }) => sum + alike.length, 0);
  const types = problem.templates.reduce((most, { table }) => Math.max(most, table.types.length), 0);
  const search = new Search(problem);
  if (pods * types > LONE_ATTEMPT)
    search.try({ claims: canBePacked(problem) ? "packed" : "least-added-price", classes: bySize(problem, true), seed: 0 });
  else {
    search.try({ claims: "least-added-price", classes: bySize(problem, true), seed: 0 });
    const { attempt, price } = search.best;
    if (price === 0 && attempt.failed.size === 0) return attempt;
    const isWorthIt = effort === "full" && pods >= MIN_PODS_FOR_PACKING && attempt.claims.length > mostApart(problem);
    if (isWorthIt && canBePacked(problem)) search.try({ claims: "packed", classes: bySize(problem, true), seed: 0 });
    const attempts = Math.min(MOST_ATTEMPTS, Math.floor(WORK_BUDGET / (pods * (types + attempt.claims.length + problem.nodes.length + 1))));
    if (attempts > 2) for (const strategy of strategies(problem, attempts)) search.try(strategy);
  }
  if (search.best.left > 0) {
    search.try(KARPENTERS_WAY);
    // What fitted nowhere may fit if it goes first: its place was taken, or its first companion went elsewhere.
    const failed = new Set(search.best.attempt.failed.keys());
    const rest = problem.classes.flatMap(({ index }) => (failed.has(index) ? [] : [index]));
    for (const claims of ["fewest-pods", "least-added-price"] as const) search.try({ claims, classes: [...failed, ...rest], seed: 0 });
  }
  return search.best.attempt;
}

/** Reservations are counted one by one as claims are made: what is made up beforehand cannot know them. */
function canBePacked({ templates }: SchedulingProblem): boolean {
  return templates.every(({ table }) => !table.hasReserved);
}

/** The most pods of which no two may share a host: a plan that has no more claims than that is as good as their number lets it be. */
function mostApart({ classes, relaxations }: SchedulingProblem): number {
  const pods = new Map<TopologyGroup, number>();
  for (const { index, pods: alike } of classes) {
    for (const group of relaxations[index]?.[0]?.hosts ?? []) {
      if (group.kind === "anti" && relaxations[index]?.[0]?.self.has(group)) pods.set(group, (pods.get(group) ?? 0) + alike.length);
    }
  }
  return Math.max(0, ...pods.values());
}

const KARPENTERS_WAY: Strategy = { claims: "fewest-pods", seed: 0 };

/** Attempts that were made, and the best of them. */
class Search {
  readonly #problem: SchedulingProblem;
  readonly #scores: Score[] = [];
  #karpenters: Score | undefined;
  #best: Score | undefined;

  constructor(problem: SchedulingProblem) {
    this.#problem = problem;
  }

  try(strategy: Strategy): void {
    if (strategy === KARPENTERS_WAY && this.#karpenters !== undefined) return;
    const score = scored(this.#problem, strategy);
    this.#scores.push(score);
    if (strategy === KARPENTERS_WAY) this.#karpenters = score;
    this.#best = undefined;
  }

  get best(): Score {
    this.#best ??= this.#scores.filter((score) => this.#isFair(score)).reduce(better);
    return this.#best;
  }

  /** Whether it leaves no pod that Karpenter's way, if that was tried, places. Pods of a class are left from its end, so numbers tell. */
  #isFair({ attempt }: Score): boolean {
    const karpenters = this.#karpenters?.attempt.failed;
    if (karpenters === undefined) return true;
    for (const [index, pods] of attempt.failed) if (pods.length > (karpenters.get(index)?.length ?? 0)) return false;
    return true;
  }
}

function scored(problem: SchedulingProblem, strategy: Strategy): Score {
  const attempt = new Attempt(problem, strategy).run();
  let left = 0;
  for (const pods of attempt.failed.values()) left += pods.length;
  return { attempt, left, price: attempt.claims.reduce((sum, claim) => sum + priceOf(claim, problem.sets) + problem.nodeHour, 0) };
}

function better(a: Score, b: Score): Score {
  return b.left < a.left || (b.left === a.left && b.price < a.price - PRICE_TOLERANCE) ? b : a;
}

function* strategies(problem: SchedulingProblem, attempts: number): Generator<Strategy> {
  yield KARPENTERS_WAY;
  yield { claims: "least-added-price", classes: bySize(problem, false), seed: 0 };
  yield { claims: "least-added-price", classes: ownersFirst(problem), seed: 0 };
  yield { claims: "least-added-price", seed: 0 };
  yield { claims: "oldest", seed: 0 };
  const kinds = ["least-added-price", "fewest-pods", "oldest"] as const;
  for (let n = 3; n < attempts; n++) {
    const seed = Math.floor(n / 3);
    yield { claims: kinds[n % 3] ?? "oldest", classes: shuffled(problem, seed), seed };
  }
}

/**
 * Classes by falling share of what all pods ask for: the queue looks at cpu first, and puts pods that are large in memory alone last. With
 * `pickyFirst`, those that cannot go anywhere come before those that can, which then fill the gaps.
 */
function bySize({ classes, relaxations, axis }: SchedulingProblem, pickyFirst: boolean): readonly number[] {
  const sizes = axis.names.map((name) =>
    name === "pods" ? 0 : classes.reduce((sum, c) => sum + (c.requests[name] ?? 0) * c.pods.length, 0),
  );
  return classes
    .map(({ index, requests }) => {
      const podData = relaxations[index]?.[0];
      const isPicky = podData !== undefined && (podData.hasTopology || podData.set.requirements.size > 0 || podData.volumeSets.length > 0);
      const share = axis.names.reduce((sum, name, r) => sum + ((sizes[r] ?? 0) > 0 ? (requests[name] ?? 0) / (sizes[r] ?? 1) : 0), 0);
      return { index, first: pickyFirst && isPicky ? 1 : 0, share };
    })
    .sort((a, b) => b.first - a.first || b.share - a.share || a.index - b.index)
    .map(({ index }) => index);
}

/** Classes in the order of the queue, with some neighbours exchanged: large ones still go first on the whole. */
function shuffled(problem: SchedulingProblem, seed: number): readonly number[] {
  if (seed % 2 === 1) return problem.classes.map(({ index }) => index);
  const reach = 1 + problem.classes.length / 4;
  return problem.classes
    .map(({ index }) => ({ index, at: index + (mixed(seed, `class ${index}`) / 2 ** 32) * reach }))
    .sort((a, b) => a.at - b.at || a.index - b.index)
    .map(({ index }) => index);
}

/**
 * By size, but pods that must spread come before those that merely count in the same spread, which would fill up domains that they could
 * do without.
 */
function ownersFirst(problem: SchedulingProblem): readonly number[] {
  const rank = (index: number): number => {
    const podData = problem.relaxations[index]?.[0];
    if (podData === undefined) return 1;
    const owns = podData.deciding.some((group) => group.kind === "spread" && podData.hard.has(group));
    const isBystander = podData.counting.some((group) => group.kind === "spread" && !podData.deciding.includes(group));
    return owns ? (isBystander ? 1 : 0) : isBystander ? 3 : 2;
  };
  return [...bySize(problem, true)].sort((a, b) => rank(a) - rank(b));
}
