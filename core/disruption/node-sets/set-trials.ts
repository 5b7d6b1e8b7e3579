import { MIN_SAVINGS } from "../../model/prices.ts";
import type { Effort } from "../../scheduling/search.ts";
import type { Blocked } from "../cluster/blocked.ts";
import { type Candidate, nameOfSet, podsMoved } from "../cluster/candidate.ts";
import { type ConsolidationContext, consolidate, type Move } from "../consolidation/consolidation.ts";
import type { Tried } from "../consolidation/decision.ts";
import { netSavingsOfSet } from "../consolidation/payback.ts";
import { withoutSameType } from "../consolidation/replacement.ts";
import { savingsOf } from "../prices/savings.ts";

/** A set of nodes that can go together, with what comes instead. */
export interface Removable extends Move {
  readonly candidates: readonly Candidate[];
  /** USD per hour. */
  readonly savings: number;
  /** USD per hour, less what the move counts as over the horizon; volumes of nodes that are gained or lost are counted. */
  readonly net: number;
}

/** More nodes at once make a command that is large to store and long to carry out. */
export const MAX_REPLACEMENTS = 90;
/** Of two sets the one is taken that saves more when each pod moved counts as so much (USD per hour): a little more is not worth many moves. */
const MOVE_PENALTY = 0.003;
/** Waiting for a new node, and paying twice meanwhile, is as much trouble as moving so many pods. */
const MOVES_PER_LAUNCH = 3;

function rank({ candidates, replacements, net }: Removable): number {
  return net - MOVE_PENALTY * (podsMoved(candidates) + MOVES_PER_LAUNCH * replacements.length);
}

/** Tries sets of nodes by the scheduler, each once, remembers why they failed, and keeps the set that is worth most. */
export class SetTrials {
  readonly #context: ConsolidationContext;
  readonly #known = new Map<string, Removable | Blocked>();
  readonly #tried: { readonly candidates: readonly Candidate[]; readonly result: Removable | Blocked }[] = [];
  #left: number;
  #best: Removable | undefined;

  /** `most`: so many trials may be made. */
  constructor(context: ConsolidationContext, most: number) {
    this.#context = context;
    this.#left = most;
  }

  get best(): Removable | undefined {
    return this.#best;
  }

  get isExhausted(): boolean {
    return this.#left <= 0;
  }

  /** What taking this set away comes to, with at most so many nodes in its place; a reason when it comes to nothing. */
  try(candidates: readonly Candidate[], mostReplacements: number, effort: Effort): Removable | Blocked {
    const text = `${effort} ${mostReplacements} ${nameOfSet(candidates)}`;
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    this.#left--;
    const result = this.#outcome(candidates, mostReplacements, effort);
    this.#known.set(text, result);
    this.#note(candidates, result);
    return result;
  }

  /** Takes note of a set that somebody else has found to be removable. */
  consider(candidates: readonly Candidate[], move: Move): void {
    this.#note(candidates, this.#removable(candidates, move));
  }

  #note(candidates: readonly Candidate[], result: Removable | Blocked): void {
    this.#tried.push({ candidates, result });
    if ("net" in result && (this.#best === undefined || rank(result) > rank(this.#best) + MIN_SAVINGS)) this.#best = result;
  }

  #outcome(candidates: readonly Candidate[], mostReplacements: number, effort: Effort): Removable | Blocked {
    const outcome = consolidate(this.#context, candidates, {
      effort,
      mostReplacements: Math.min(MAX_REPLACEMENTS, mostReplacements),
      ...(candidates.length > 1 && { narrow: (replacement) => withoutSameType(replacement, candidates) }),
    });
    if (outcome.decision === "none") return outcome.blocked;
    return this.#removable(candidates, outcome);
  }

  #removable(candidates: readonly Candidate[], { replacements, destinations }: Move): Removable {
    const savings = savingsOf(candidates, replacements);
    const net = netSavingsOfSet(this.#context.settings, candidates, savings, replacements.length);
    return { candidates, replacements, destinations, savings, net };
  }

  /** Everything that was tried, in that order. */
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
