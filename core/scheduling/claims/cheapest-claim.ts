import { HOSTNAME, WELL_KNOWN_LABELS } from "../../model/labels.ts";
import { PRICE_TOLERANCE } from "../../model/prices.ts";
import { has } from "../../requirements/requirement.ts";
import type { PodData } from "../problem/pod-class.ts";
import type { SchedulingProblem } from "../problem/problem.ts";
import type { TopologyState } from "../problem/topology-state.ts";
import { ClaimHeap, isBefore, type Quote } from "./claim-heap.ts";
import { ClaimState } from "./claim-state.ts";
import type { Evaluation } from "./evaluation.ts";
import type { Outcome } from "./outcome.ts";
import type { PlannedClaim } from "./planned-claim.ts";

/** Keys with more domains than this (instance types, say) are not told apart by domain. */
const MAX_DOMAINS = 8;

const NO_QUOTES: readonly Quote[] = [];

/** A claim that takes the pod, and by how much it grows dearer (USD per hour). */
export interface Placement {
  readonly claim: PlannedClaim;
  readonly outcome: Outcome;
  readonly addedPrice: number;
}

/** What states say to one kind of ask. */
interface Quotes {
  /** Claims that are free to go anywhere, or whose place does not matter. */
  readonly anywhere: ClaimHeap;
  /** By domain of the key that the ask looks at: claims that lie there, or may. */
  readonly byDomain: Map<string, ClaimHeap>;
  /** By state. */
  readonly made: (readonly Quote[] | undefined)[];
  /** By state: arrivals before this one have gone, or are on hosts that will never do. */
  readonly openFrom: number[];
  /** How much of the record of states has been taken in. */
  seen: number;
  /** States that grow dearer by more than this are not asked: a new claim is cheaper. USD per hour. */
  readonly limit: number;
}

/**
 * Finds the planned claim that grows dearer by least. Claims are asked by state, of which there are few however many claims there are; states by
 * what they say for themselves, which bounds from below what they say in the end, so that few are asked about the rest of the plan.
 */
export class CheapestClaim {
  readonly #evaluation: Evaluation;
  readonly #topology: TopologyState;
  readonly #domains = new Map<string, Set<string>>();
  readonly #states = new Map<string, ClaimState>();
  /** States one after another as a claim came to one that had none. */
  readonly #filled: ClaimState[] = [];
  /** States one after another as claims came. */
  readonly #reached: ClaimState[] = [];
  readonly #quotes: (Quotes | undefined)[] = [];

  constructor(problem: SchedulingProblem, evaluation: Evaluation, topology: TopologyState) {
    this.#evaluation = evaluation;
    this.#topology = topology;
    for (const { key, domains } of problem.groups) {
      if (key === HOSTNAME || !WELL_KNOWN_LABELS.has(key)) continue;
      const known = this.#domains.get(key) ?? new Set();
      for (const domain of domains.keys()) known.add(domain);
      this.#domains.set(key, known);
    }
  }

  /** Domains of a key, when they are few; none when they are not told apart. */
  domainsOf(key: string): readonly string[] {
    const domains = this.#domains.get(key);
    return domains === undefined || domains.size > MAX_DOMAINS ? [] : [...domains];
  }

  /** Takes note of what a claim has become. */
  enter(claim: PlannedClaim): void {
    const { template, set, used, index } = claim;
    const isPlain = claim.base === template.types && claim.ports.length + claim.reservations.length === 0 && !claim.minValuesRelaxed;
    const text = `${template.index} ${set.id} ${used.join()}${isPlain ? "" : ` ${index}`}`;
    const state = this.#states.get(text) ?? new ClaimState(this.#states.size, claim.pods.length);
    this.#states.set(text, state);
    if (claim.state !== undefined) claim.state.live--;
    claim.state = state;
    state.arrivals.push(claim);
    if (state.live++ === 0) this.#filled.push(state);
    this.#reached.push(state);
  }

  /** Asks everyone, `limit` or not; for when a new claim turned out dearer than it. */
  bestOfAll(podData: PodData): Placement | undefined {
    if (this.#quotes[podData.quoteKey]?.limit !== Number.POSITIVE_INFINITY) this.#quotes[podData.quoteKey] = undefined;
    return this.best(podData, () => Number.POSITIVE_INFINITY);
  }

  /** The best offer not above a limit, which is what a new claim will likely cost; it is worked out once for each kind of ask. */
  best(podData: PodData, limit: () => number): Placement | undefined {
    const quotes = this.#quotesFor(podData, limit);
    const heaps = this.#heaps(quotes, podData);
    const consulted: Quote[] = [];
    let best: Placement | undefined;
    for (let quote = lowest(heaps); quote !== undefined; quote = lowest(heaps)) {
      if (best !== undefined && quote.addedPrice >= best.addedPrice - PRICE_TOLERANCE) break;
      quote.heap.pop();
      // Unless a claim is there to ask, it comes back with the next that comes to the state.
      quote.isIn = false;
      for (const claim of this.#claims(quotes, quote.state, podData)) {
        const outcome = this.#evaluation.evaluate(claim, podData);
        quote.isIn = true;
        if (outcome === "never") break;
        if (consulted.at(-1) !== quote) consulted.push(quote);
        if (typeof outcome !== "object") continue;
        const addedPrice = outcome.price - claim.price;
        if (best === undefined || addedPrice < best.addedPrice - PRICE_TOLERANCE) best = { claim, outcome, addedPrice };
        break;
      }
    }
    for (const quote of consulted) quote.heap.push(quote);
    return best;
  }

  /** The limit that a kind of ask was given. */
  limitOf(podData: PodData): number {
    return this.#quotes[podData.quoteKey]?.limit ?? Number.POSITIVE_INFINITY;
  }

  #quotesFor(podData: PodData, limit: () => number): Quotes {
    // Where hosts matter, a state whose claims were all refused is of interest again with its next claim.
    const record = podData.hosts.length > 0 ? this.#reached : this.#filled;
    let quotes = this.#quotes[podData.quoteKey];
    if (quotes === undefined) {
      quotes = { anywhere: new ClaimHeap(), byDomain: new Map(), made: [], openFrom: [], seen: record.length, limit: limit() };
      this.#quotes[podData.quoteKey] = quotes;
      for (const state of this.#states.values()) this.#quoteFor(quotes, state, podData);
    }
    for (; quotes.seen < record.length; quotes.seen++) this.#quoteFor(quotes, record[quotes.seen], podData);
    return quotes;
  }

  #quoteFor(quotes: Quotes, state: ClaimState | undefined, podData: PodData): void {
    if (state === undefined || state.live === 0) return;
    const made = quotes.made[state.id] ?? this.#quote(quotes, state, podData);
    quotes.made[state.id] = made;
    for (const quote of made) {
      if (quote.isIn) continue;
      quote.isIn = true;
      quote.heap.push(quote);
    }
  }

  /** The bids of a state: one, or one for each domain that it may still be narrowed to. */
  #quote({ anywhere, byDomain, limit }: Quotes, state: ClaimState, podData: PodData): readonly Quote[] {
    const claim = state.first();
    if (claim === undefined) return NO_QUOTES;
    const make = (heap: ClaimHeap, domain?: string): readonly Quote[] => {
      const addedPrice = this.#evaluation.leastAddedPrice(claim, podData, domain);
      return addedPrice === undefined || addedPrice > limit + PRICE_TOLERANCE ? NO_QUOTES : [{ addedPrice, state, heap, isIn: false }];
    };
    const heapOf = (domain: string): ClaimHeap => {
      const heap = byDomain.get(domain) ?? new ClaimHeap();
      byDomain.set(domain, heap);
      return heap;
    };
    const key = podData.areas[0]?.key;
    if (key === undefined) return make(anywhere);
    const held = claim.set.requirements.get(key);
    const [only] = held !== undefined && !held.complement && held.values.size === 1 ? held.values : [];
    if (only !== undefined) return make(heapOf(only));
    const domains = this.domainsOf(key);
    if (domains.length === 0) return make(anywhere);
    return domains.flatMap((domain) => (held === undefined || has(held, domain) ? make(heapOf(domain), domain) : NO_QUOTES));
  }

  #heaps({ anywhere, byDomain }: Quotes, podData: PodData): readonly ClaimHeap[] {
    const [area] = podData.areas;
    if (area === undefined) return [anywhere];
    const open = this.#topology.open(area, podData, byDomain.keys());
    return [anywhere, ...open.flatMap((domain) => byDomain.get(domain) ?? [])];
  }

  /** Claims of a state to ask: one will do for all, unless hosts matter. */
  #claims(quotes: Quotes, state: ClaimState, podData: PodData): readonly PlannedClaim[] {
    if (podData.hosts.length === 0) {
      const claim = state.first();
      return claim === undefined ? [] : [claim];
    }
    const { arrivals } = state;
    let at = quotes.openFrom[state.id] ?? 0;
    const isOpen = (claim: PlannedClaim | undefined): boolean => claim?.state === state && this.#evaluation.keepsHost(claim, podData);
    while (at < arrivals.length && !isOpen(arrivals[at])) at++;
    quotes.openFrom[state.id] = at;
    if (podData.hosts.some(({ kind }) => kind === "affinity")) return arrivals.slice(at).filter(isOpen);
    const claim = arrivals[at];
    return claim === undefined ? [] : [claim];
  }
}

function lowest(heaps: readonly ClaimHeap[]): Quote | undefined {
  let best: Quote | undefined;
  for (const heap of heaps) {
    const quote = heap.peek();
    if (quote !== undefined && (best === undefined || isBefore(quote, best))) best = quote;
  }
  return best;
}
