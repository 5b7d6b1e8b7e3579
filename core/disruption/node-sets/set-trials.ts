import { MIN_SAVINGS } from "../../model/prices.ts";
import type { Effort } from "../../scheduling/search.ts";
import type { Blocked } from "../cluster/blocked.ts";
import { type Candidate, nameOfSet, podsMoved } from "../cluster/candidate.ts";
import { type ConsolidationContext, consolidate } from "../consolidation/consolidation.ts";
import { costSavedBy, type Move } from "../consolidation/cost-saved.ts";
import type { Tried } from "../consolidation/decision.ts";
import { netSavings } from "../consolidation/payback.ts";
import { withoutSameType } from "../consolidation/replacement.ts";
import { savingsOf } from "../prices/savings.ts";

/** A set of nodes that can be removed together, with its replacements. */
export interface RemovableSet extends Move {
  readonly candidates: readonly Candidate[];
  /** USD per hour. */
  readonly savings: number;
  /** Net savings of its owner's cost, USD per hour (netSavings). */
  readonly net: number;
}

/** Replacements of one set at most: more make a command that is large to store and slow to execute. */
export const MAX_REPLACEMENTS = 90;
/**
 * What each moved pod counts in the comparison of two sets, USD per hour, so that a little more savings do not move
 * many more pods. No benchmark is on record for it.
 */
export const MOVE_PENALTY = 0.003;
/**
 * A replacement counts as so many moved pods, because both nodes are paid until it is initialized. No benchmark is on
 * record.
 */
const MOVES_PER_LAUNCH = 3;

function rank({ candidates, replacements, net }: RemovableSet): number {
  return net - MOVE_PENALTY * (podsMoved(candidates) + MOVES_PER_LAUNCH * replacements.length);
}

/**
 * Simulates sets of nodes with the scheduler, each once, and keeps the best. It holds the number of simulations that
 * are left, so callers check `isExhausted` before `try`.
 *
 *     const trials = new SetTrials(context, 40);
 *     trials.try([a, b], 1, "quick"); // RemovableSet, or Blocked
 *     trials.best?.net;
 */
export class SetTrials {
  readonly #context: ConsolidationContext;
  readonly #known = new Map<string, RemovableSet | Blocked>();
  readonly #tried: { readonly candidates: readonly Candidate[]; readonly result: RemovableSet | Blocked }[] = [];
  #left: number;
  #best: RemovableSet | undefined;

  /** @param most how many simulations may be made. */
  constructor(context: ConsolidationContext, most: number) {
    this.#context = context;
    this.#left = most;
  }

  /** The best removable set so far. */
  get best(): RemovableSet | undefined {
    return this.#best;
  }

  /** Whether no simulation is left. */
  get isExhausted(): boolean {
    return this.#left <= 0;
  }

  /**
   * Simulates the removal of the set with at most `mostReplacements` new nodes; returns why when it cannot be removed.
   */
  try(candidates: readonly Candidate[], mostReplacements: number, effort: Effort): RemovableSet | Blocked {
    const key = `${effort} ${mostReplacements} ${nameOfSet(candidates)}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    this.#left--;
    const result = this.#outcome(candidates, mostReplacements, effort);
    this.#known.set(key, result);
    this.#note(candidates, result);
    return result;
  }

  /** Compares a set that another search has found with the best. */
  consider(candidates: readonly Candidate[], move: Move): void {
    this.#note(candidates, this.#removable(candidates, move));
  }

  #note(candidates: readonly Candidate[], result: RemovableSet | Blocked): void {
    this.#tried.push({ candidates, result });
    if ("net" in result && (this.#best === undefined || rank(result) > rank(this.#best) + MIN_SAVINGS)) this.#best = result;
  }

  #outcome(candidates: readonly Candidate[], mostReplacements: number, effort: Effort): RemovableSet | Blocked {
    const outcome = consolidate(this.#context, candidates, {
      effort,
      mostReplacements: Math.min(MAX_REPLACEMENTS, mostReplacements),
      ...(candidates.length > 1 && { narrow: (replacement) => withoutSameType(replacement, candidates) }),
    });
    if (outcome.decision === "none") return outcome.blocked;
    return this.#removable(candidates, { ...outcome, onlyDestinations: this.#context.closed !== undefined });
  }

  #removable(candidates: readonly Candidate[], { replacements, destinations, onlyDestinations = false }: Move): RemovableSet {
    const savings = savingsOf(candidates, replacements);
    const { settings, view } = this.#context;
    const net = netSavings(settings, candidates, costSavedBy(view, candidates, { replacements, destinations }));
    return { candidates, replacements, destinations, ...(onlyDestinations && { onlyDestinations }), savings, net };
  }

  /** Every set that was simulated or considered, in order. */
  get tried(): readonly Tried[] {
    return this.#tried.map(({ candidates, result }) => {
      const isFound = "net" in result;
      return {
        nodes: candidates.map(({ node }) => node),
        savesPerHour: isFound ? result.savings : 0,
        podsMoved: podsMoved(candidates),
        replacements: isFound ? result.replacements.map(({ instanceTypes }) => instanceTypes[0] ?? "") : [],
        verdict: result === this.#best ? "chosen" : "rejected",
        ...(!isFound && { why: result }),
      };
    });
  }
}
