import { priceOf } from "./assemble.ts";
import { Attempt } from "./attempt.ts";
import { mixed, NODE_HOUR, type Strategy } from "./strategy.ts";
import type { World } from "./world.ts";

/** How good an attempt is: pods left first, then price. */
interface Score {
  readonly attempt: Attempt;
  readonly left: number;
  /** USD per hour of all claims, with what their nodes cost beside the instance. */
  readonly price: number;
}

/** Attempts that a run may make, by work: pods × (instance types + planned claims + nodes) stands for the time of one. */
const WORK_BUDGET = 2_000_000;
const MOST_ATTEMPTS = 24;
/** However large the problem: Karpenter's way of packing, and the one that watches the price, in two orders. */
const FEWEST_ATTEMPTS = 3;
/** Pods × instance types beyond which the one that watches the price is the only one. */
const LONE_ATTEMPT = 15_000_000;
/** Prices closer than this are equal (USD per hour): sums of floats. */
const SAME = 1e-9;

/**
 * Greedy packing gives one plan of many, and it is quick: so try several ways of breaking its ties and keep the plan that leaves the
 * fewest pods and, of those, the cheapest. The number of attempts follows from the size of the problem, never from a clock:
 * the same input always gives the same plan.
 */
export function bestAttempt(world: World): Attempt {
  const pods = world.classes.reduce((sum, { pods: alike }) => sum + alike.length, 0);
  const types = world.templates.reduce((most, { table }) => Math.max(most, table.types.length), 0);
  const isLone = pods * types > LONE_ATTEMPT;
  let best = scored(world, isLone ? { claims: "least-rise", classes: bySize(world, true), seed: 0 } : { claims: "fewest-pods", seed: 0 });
  if (world.classes.length === 0) return best.attempt;
  const work = pods * (types + best.attempt.claims.length + world.nodes.length + 1);
  const attempts = Math.max(FEWEST_ATTEMPTS, Math.min(MOST_ATTEMPTS, Math.floor(WORK_BUDGET / work)));
  const needsSearch = (): boolean => best.left > 0 || best.price > 0;
  for (const strategy of strategies(world, attempts)) {
    if (isLone || !needsSearch()) break;
    best = better(best, scored(world, strategy));
  }
  if (best.left > 0) {
    // What fitted nowhere may fit if it goes first: its place was taken, or its first companion went elsewhere.
    const failed = new Set(best.attempt.failed.keys());
    const order = [...failed, ...world.classes.flatMap(({ index }) => (failed.has(index) ? [] : [index]))];
    best = better(best, scored(world, { claims: isLone ? "least-rise" : "fewest-pods", classes: order, seed: 0 }));
  }
  return best.attempt;
}

function scored(world: World, strategy: Strategy): Score {
  const attempt = new Attempt(world, strategy).run();
  let left = 0;
  for (const pods of attempt.failed.values()) left += pods.length;
  return { attempt, left, price: attempt.claims.reduce((sum, claim) => sum + priceOf(claim, world.sets) + NODE_HOUR, 0) };
}

function better(a: Score, b: Score): Score {
  return b.left < a.left || (b.left === a.left && b.price < a.price - SAME) ? b : a;
}

function* strategies(world: World, attempts: number): Generator<Strategy> {
  yield { claims: "least-rise", classes: bySize(world, true), seed: 0 };
  yield { claims: "least-rise", classes: bySize(world, false), seed: 0 };
  if (attempts <= FEWEST_ATTEMPTS) return;
  yield { claims: "least-rise", seed: 0 };
  yield { claims: "oldest", seed: 0 };
  const kinds = ["least-rise", "fewest-pods", "oldest"] as const;
  for (let n = 3; n < attempts; n++) {
    const seed = Math.floor(n / 3);
    yield { claims: kinds[n % 3] ?? "oldest", classes: shuffled(world, seed), seed };
  }
}

/**
 * Classes by falling share of what all pods ask for: the queue looks at cpu first, and puts pods that are large in memory alone last. With
 * `pickyFirst`, those that cannot go anywhere come before those that can, which then fill the gaps.
 */
function bySize({ classes, asks, axis }: World, pickyFirst: boolean): readonly number[] {
  const sizes = axis.names.map((name) =>
    name === "pods" ? 0 : classes.reduce((sum, c) => sum + (c.requests[name] ?? 0) * c.pods.length, 0),
  );
  return classes
    .map(({ index, requests }) => {
      const ask = asks[index]?.[0];
      const isPicky = ask !== undefined && (ask.hasTopology || ask.set.requirements.size > 0 || ask.volumeSets.length > 0);
      const share = axis.names.reduce((sum, name, r) => sum + ((sizes[r] ?? 0) > 0 ? (requests[name] ?? 0) / (sizes[r] ?? 1) : 0), 0);
      return { index, first: pickyFirst && isPicky ? 1 : 0, share };
    })
    .sort((a, b) => b.first - a.first || b.share - a.share || a.index - b.index)
    .map(({ index }) => index);
}

/** Classes in the order of the queue, with some neighbours exchanged: large ones still go first on the whole. */
function shuffled(world: World, seed: number): readonly number[] {
  if (seed % 2 === 1) return world.classes.map(({ index }) => index);
  const reach = 1 + world.classes.length / 4;
  return world.classes
    .map(({ index }) => ({ index, at: index + (mixed(seed, `class ${index}`) / 2 ** 32) * reach }))
    .sort((a, b) => a.at - b.at || a.index - b.index)
    .map(({ index }) => index);
}
