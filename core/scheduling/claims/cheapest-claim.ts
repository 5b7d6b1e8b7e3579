import { HOSTNAME, WELL_KNOWN_LABELS } from "../../model/labels.ts";
import { PRICE_TOLERANCE } from "../../model/prices.ts";
import { has } from "../../requirements/requirement.ts";
import type { PodData } from "../problem/pod-class.ts";
import type { SchedulingProblem } from "../problem/problem.ts";
import type { TopologyState } from "../problem/topology-state.ts";
import { ClaimHeap, isBefore, type Quote } from "./claim-heap.ts";
import { ClaimState } from "./claim-state.ts";
import type { Evaluation } from "./evaluation.ts";
import type { ClaimOutcome } from "./outcome.ts";
import type { PlannedClaim } from "./planned-claim.ts";
import { StateIndex, type StateList } from "./state-index.ts";

/**
 * A key with more domains than this, such as the instance type, gets one quote for all domains. No benchmark has tuned
 * it.
 */
const MAX_DOMAINS = 8;

/**
 * States that a pod is compared with once the attempt has taken its steps: the youngest ones, because the older ones
 * are mostly full (next-k-fit, a bounded-space heuristic of bin packing).
 */
const YOUNGEST_STATES = 8;
/** States that are looked at to find those. */
const YOUNGEST_SEEN = 128;

const NO_QUOTES: readonly Quote[] = [];

/** A planned claim that takes the pod. */
interface Placement {
  readonly claim: PlannedClaim;
  /** What the claim becomes with the pod. */
  readonly outcome: ClaimOutcome;
  /** By how much the pod raises the claim's price, USD per hour. */
  readonly addedPrice: number;
}

/** The quotes of all claim states for pods of one quoteKey. */
interface Quotes {
  /** Quotes that hold for every domain: the pod has no topology key, or its domains are not distinguished. */
  readonly anywhere: ClaimHeap;
  /** By domain of the pod's first topology key: quotes of claims that are in the domain or may be narrowed to it. */
  readonly byDomain: Map<string, ClaimHeap>;
  readonly made: Map<ClaimState, readonly Quote[]> | undefined;
  /** Arrivals before this index have left the state or are on hosts that will never suit. */
  readonly openFrom: Map<ClaimState, number>;
  /** Number of entries of the log of states (`#filled` or `#reached`) that were read. */
  seen: number;
  /** States whose added price is higher get no quote, because a new claim is cheaper; USD per hour. */
  readonly limit: number;
}

/**
 * Finds the planned claim to which a pod adds the least price. Claims with the same contents share a ClaimState, and
 * there are few states however many claims there are. Each state quotes a lower bound of its added price, which ignores
 * hosts and other pods; states are evaluated in the order of their quotes until no quote is below the best result, so
 * few are evaluated.
 *
 *     cheapest.enter(claim); // after each change of a claim
 *     const placement = cheapest.best(podData, () => priceOfNewClaim); // { claim, outcome, addedPrice: 0.02 }
 */
export class CheapestClaim {
  readonly #evaluation: Evaluation;
  readonly #topology: TopologyState;
  /** By topology key, except the hostname. */
  readonly #domains = new Map<string, Set<string>>();
  readonly #states = new Map<string, ClaimState>();
  /** The states that have claims. */
  readonly #index = new StateIndex();
  /** Log of states: an entry each time that a claim enters a state without claims. */
  readonly #filled: ClaimState[] = [];
  /** Log of states: an entry each time that a claim enters a state. */
  readonly #reached: ClaimState[] = [];
  /** By quoteKey, for keys of several pods. */
  readonly #quotes: (Quotes | undefined)[] = [];
  /** By quoteKey: number of pods. */
  readonly #podsOfKey: readonly number[];
  /** The quotes of the last pod whose quoteKey no other pod has: those of all such pods would need n² memory. */
  #last: { readonly key: number; readonly quotes: Quotes } | undefined;

  constructor(problem: SchedulingProblem, evaluation: Evaluation, topology: TopologyState) {
    this.#evaluation = evaluation;
    this.#topology = topology;
    this.#podsOfKey = problem.podsOfQuoteKey;
    for (const { key, domains } of problem.groups) {
      if (key === HOSTNAME || !WELL_KNOWN_LABELS.has(key)) continue;
      const known = this.#domains.get(key) ?? new Set();
      for (const domain of domains.keys()) known.add(domain);
      this.#domains.set(key, known);
    }
  }

  /** Domains of a topology key; empty when there are more than MAX_DOMAINS. */
  domainsOf(key: string): readonly string[] {
    const domains = this.#domains.get(key);
    return domains === undefined || domains.size > MAX_DOMAINS ? [] : [...domains];
  }

  /** Puts a claim into the state of its present contents. Call it after each change of a claim. */
  enter(claim: PlannedClaim): void {
    const { template, set, used, index } = claim;
    // Which types a claim holds for minValues depends on what the limits left when it took its last pod.
    const isCounted = template.remaining !== undefined && template.minValues.length > 0;
    // Limits, host ports, reservations or relaxed minValues make a claim differ from others with the same contents.
    const isPlain =
      claim.frontier !== undefined && claim.ports.length + claim.reservations.length === 0 && !claim.minValuesRelaxed && !isCounted;
    const text = `${template.index} ${set.id} ${used.join()}${isPlain ? "" : ` ${index}`}`;
    const state = this.#states.get(text) ?? new ClaimState(this.#states.size, claim.pods.length);
    this.#states.set(text, state);
    if (claim.state !== undefined) claim.state.live--;
    claim.state = state;
    state.arrivals.push(claim);
    if (state.live++ === 0) {
      this.#filled.push(state);
      this.#index.add(state, set);
    }
    this.#reached.push(state);
  }

  /** `best` without a limit; for a pod whose new claim turned out more expensive than the limit. */
  bestOfAll(podData: PodData): Placement | undefined {
    if (this.limitOf(podData) !== Number.POSITIVE_INFINITY) this.#keep(podData, undefined);
    return this.best(podData, () => Number.POSITIVE_INFINITY);
  }

  /**
   * The placement with the lowest added price, among states whose quote is at most a limit: the likely price of a new
   * claim. The limit is computed once for each quoteKey.
   */
  best(podData: PodData, limit: () => number): Placement | undefined {
    const quotes = this.#quotesFor(podData, limit);
    const heaps = this.#heaps(quotes, podData);
    const consulted: Quote[] = [];
    let best: Placement | undefined;
    for (let quote = lowest(heaps); quote !== undefined; quote = lowest(heaps)) {
      if (best !== undefined && quote.addedPrice >= best.addedPrice - PRICE_TOLERANCE) break;
      quote.heap.pop();
      if (quote.bound !== "requirements") {
        this.#refine(quote, quotes, podData);
        continue;
      }
      // Without a claim to evaluate, the quote returns to its heap when the next claim enters the state.
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

  /** The limit that pods of this quoteKey were given. */
  limitOf(podData: PodData): number {
    return this.#known(podData)?.limit ?? Number.POSITIVE_INFINITY;
  }

  #known({ quoteKey }: PodData): Quotes | undefined {
    return this.#last?.key === quoteKey ? this.#last.quotes : this.#quotes[quoteKey];
  }

  #keep({ quoteKey }: PodData, quotes: Quotes | undefined): void {
    if ((this.#podsOfKey[quoteKey] ?? 0) > 1) this.#quotes[quoteKey] = quotes;
    else this.#last = quotes && { key: quoteKey, quotes };
  }

  /** The quotes for pods like this one, with all states entered since the last call. */
  #quotesFor(podData: PodData, limit: () => number): Quotes {
    // Where hosts matter, a state whose claims were all refused matters again when one more claim enters it.
    const log = podData.hosts.length > 0 ? this.#reached : this.#filled;
    const isAlone = (this.#podsOfKey[podData.quoteKey] ?? 0) <= 1;
    const known = this.#known(podData);
    let quotes = known;
    if (quotes === undefined || (isAlone && quotes.seen < log.length)) {
      quotes = {
        ...{ anywhere: new ClaimHeap(), byDomain: new Map(), openFrom: new Map(), seen: log.length },
        ...{ made: isAlone ? undefined : new Map(), limit: known?.limit ?? limit() },
      };
      this.#keep(podData, quotes);
      for (const list of this.#index.candidates(podData)) {
        const entries = list.entries();
        if (this.#evaluation.isSpent) this.#quoteForYoungest(quotes, entries, podData);
        else for (const [state] of entries) this.#quoteFor(quotes, state, podData);
      }
    }
    if (this.#evaluation.isSpent) quotes.seen = Math.max(quotes.seen, log.length - YOUNGEST_STATES);
    for (; quotes.seen < log.length; quotes.seen++) this.#quoteFor(quotes, log[quotes.seen], podData);
    return quotes;
  }

  /** Quotes for the youngest of some states that have types for the pod. */
  #quoteForYoungest(quotes: Quotes, entries: ReturnType<StateList["entries"]>, podData: PodData): void {
    let quoted = 0;
    for (let i = entries.length - 1; i >= 0 && i >= entries.length - YOUNGEST_SEEN && quoted < YOUNGEST_STATES; i--) {
      const state = entries[i]?.[0];
      const claim = state !== undefined && state.live > 0 ? state.first() : undefined;
      if (claim === undefined) continue;
      const limit = quotes.limit + PRICE_TOLERANCE;
      const rough = this.#evaluation.roughAddedPrice(claim, podData);
      if (rough !== undefined && rough > limit) continue;
      const byTypes = rough === undefined ? 0 : this.#evaluation.addedPriceByTypes(claim, podData);
      if (byTypes === undefined || byTypes > limit) continue;
      this.#quoteFor(quotes, state, podData);
      quoted++;
    }
  }

  #quoteFor(quotes: Quotes, state: ClaimState | undefined, podData: PodData): void {
    if (state === undefined || state.live === 0) return;
    const made = quotes.made?.get(state) ?? this.#quote(quotes, state, podData);
    quotes.made?.set(state, made);
    for (const quote of made) {
      if (quote.isIn) continue;
      quote.isIn = true;
      quote.heap.push(quote);
    }
  }

  /** The quotes of a state: one, or one for each domain that its claims may still be narrowed to. */
  #quote({ anywhere, byDomain, limit }: Quotes, state: ClaimState, podData: PodData): readonly Quote[] {
    const claim = state.first();
    if (claim === undefined) return NO_QUOTES;
    const rough = this.#evaluation.roughAddedPrice(claim, podData);
    if (rough === Number.POSITIVE_INFINITY || (rough !== undefined && rough > limit + PRICE_TOLERANCE)) return NO_QUOTES;
    const make = (heap: ClaimHeap, domain?: string): readonly Quote[] => {
      const addedPrice = rough ?? this.#evaluation.leastAddedPrice(claim, podData, domain);
      if (addedPrice === undefined || addedPrice > limit + PRICE_TOLERANCE) return NO_QUOTES;
      return [{ addedPrice, bound: rough === undefined ? "requirements" : "claim", state, domain, heap, isIn: false }];
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

  /**
   * Gives a quote a closer bound and the place in the heap that follows from it; without a price below the limit, the
   * state will never take such pods.
   */
  #refine(quote: Quote, { limit }: Quotes, podData: PodData): void {
    const claim = quote.state.first();
    if (claim === undefined) {
      quote.isIn = false;
      return;
    }
    const byTypes = quote.bound === "claim";
    const addedPrice = byTypes
      ? this.#evaluation.addedPriceByTypes(claim, podData)
      : this.#evaluation.leastAddedPrice(claim, podData, quote.domain);
    if (addedPrice === undefined || addedPrice > limit + PRICE_TOLERANCE) return;
    quote.addedPrice = addedPrice;
    quote.bound = byTypes ? "types" : "requirements";
    quote.heap.push(quote);
  }

  /** The heaps to look at: of domains only those that the pod's first topology rule allows now. */
  #heaps({ anywhere, byDomain }: Quotes, podData: PodData): readonly ClaimHeap[] {
    const [area] = podData.areas;
    if (area === undefined) return [anywhere];
    const open = this.#topology.open(area, podData, byDomain.keys());
    return [anywhere, ...open.flatMap((domain) => byDomain.get(domain) ?? [])];
  }

  /** Claims of a state to evaluate: one represents all, unless hosts matter. */
  #claims(quotes: Quotes, state: ClaimState, podData: PodData): readonly PlannedClaim[] {
    if (podData.hosts.length === 0) {
      const claim = state.first();
      return claim === undefined ? [] : [claim];
    }
    const { arrivals } = state;
    let at = quotes.openFrom.get(state) ?? 0;
    const isOpen = (claim: PlannedClaim | undefined): boolean => claim?.state === state && this.#evaluation.keepsHost(claim, podData);
    while (at < arrivals.length && !isOpen(arrivals[at])) at++;
    quotes.openFrom.set(state, at);
    if (podData.hosts.some(({ kind }) => kind === "affinity")) return arrivals.slice(at).filter(isOpen);
    const claim = arrivals[at];
    return claim === undefined ? [] : [claim];
  }
}

/** The best quote of several heaps. */
function lowest(heaps: readonly ClaimHeap[]): Quote | undefined {
  let best: Quote | undefined;
  for (const heap of heaps) {
    const quote = heap.peek();
    if (quote !== undefined && (best === undefined || isBefore(quote, best))) best = quote;
  }
  return best;
}
