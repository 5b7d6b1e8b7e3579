import { HOSTNAME, WELL_KNOWN_LABELS } from "../../model/labels.ts";
import { has } from "../../requirements/requirement.ts";
import type { Ask } from "../problem/pod-class.ts";
import type { World } from "../problem/problem.ts";
import type { TopologyState } from "../problem/topology-state.ts";
import { type Bid, ClaimHeap, isBefore } from "./claim-heap.ts";
import { ClaimState } from "./claim-state.ts";
import type { Evaluation } from "./evaluation.ts";
import type { Outcome } from "./outcome.ts";
import type { PlannedClaim } from "./planned-claim.ts";

/** Prices closer than this are equal (USD per hour). */
export const SAME_PRICE = 1e-9;
/** Keys with more domains than this (instance types, say) are not told apart by domain. */
const MOST_DOMAINS = 8;

const NO_BIDS: readonly Bid[] = [];

/** A claim that takes the pod, and by how much it grows dearer (USD per hour). */
export interface Offer {
  readonly claim: PlannedClaim;
  readonly outcome: Outcome;
  readonly rise: number;
}

/** What states say to one kind of ask. */
interface Bids {
  /** Claims that are free to go anywhere, or whose place does not matter. */
  readonly anywhere: ClaimHeap;
  /** By domain of the key that the ask looks at: claims that lie there, or may. */
  readonly byDomain: Map<string, ClaimHeap>;
  /** By state. */
  readonly made: (readonly Bid[] | undefined)[];
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
export class Auction {
  readonly #evaluation: Evaluation;
  readonly #topology: TopologyState;
  readonly #domains = new Map<string, Set<string>>();
  readonly #states = new Map<string, ClaimState>();
  /** States one after another as a claim came to one that had none. */
  readonly #filled: ClaimState[] = [];
  /** States one after another as claims came. */
  readonly #reached: ClaimState[] = [];
  readonly #bids: (Bids | undefined)[] = [];

  constructor(world: World, evaluation: Evaluation, topology: TopologyState) {
    this.#evaluation = evaluation;
    this.#topology = topology;
    for (const { key, domains } of world.groups) {
      if (key === HOSTNAME || !WELL_KNOWN_LABELS.has(key)) continue;
      const known = this.#domains.get(key) ?? new Set();
      for (const domain of domains.keys()) known.add(domain);
      this.#domains.set(key, known);
    }
  }

  /** Domains of a key, when they are few; none when they are not told apart. */
  domainsOf(key: string): readonly string[] {
    const domains = this.#domains.get(key);
    return domains === undefined || domains.size > MOST_DOMAINS ? [] : [...domains];
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
  bestOfAll(ask: Ask): Offer | undefined {
    if (this.#bids[ask.bidId]?.limit !== Number.POSITIVE_INFINITY) this.#bids[ask.bidId] = undefined;
    return this.best(ask, () => Number.POSITIVE_INFINITY);
  }

  /** The best offer not above a limit, which is what a new claim will likely cost; it is worked out once for each kind of ask. */
  best(ask: Ask, limit: () => number): Offer | undefined {
    const bids = this.#bidsFor(ask, limit);
    const heaps = this.#heaps(bids, ask);
    const asked: Bid[] = [];
    let best: Offer | undefined;
    for (let bid = lowest(heaps); bid !== undefined; bid = lowest(heaps)) {
      if (best !== undefined && bid.rise >= best.rise - SAME_PRICE) break;
      bid.heap.pop();
      // Unless a claim is there to ask, it comes back with the next that comes to the state.
      bid.isIn = false;
      for (const claim of this.#claims(bids, bid.state, ask)) {
        const outcome = this.#evaluation.evaluate(claim, ask);
        bid.isIn = true;
        if (outcome === "never") break;
        if (asked.at(-1) !== bid) asked.push(bid);
        if (typeof outcome !== "object") continue;
        const rise = outcome.price - claim.price;
        if (best === undefined || rise < best.rise - SAME_PRICE) best = { claim, outcome, rise };
        break;
      }
    }
    for (const bid of asked) bid.heap.push(bid);
    return best;
  }

  /** The limit that a kind of ask was given. */
  limitOf(ask: Ask): number {
    return this.#bids[ask.bidId]?.limit ?? Number.POSITIVE_INFINITY;
  }

  #bidsFor(ask: Ask, limit: () => number): Bids {
    // Where hosts matter, a state whose claims were all refused is of interest again with its next claim.
    const record = ask.hosts.length > 0 ? this.#reached : this.#filled;
    let bids = this.#bids[ask.bidId];
    if (bids === undefined) {
      bids = { anywhere: new ClaimHeap(), byDomain: new Map(), made: [], openFrom: [], seen: record.length, limit: limit() };
      this.#bids[ask.bidId] = bids;
      for (const state of this.#states.values()) this.#bidFor(bids, state, ask);
    }
    for (; bids.seen < record.length; bids.seen++) this.#bidFor(bids, record[bids.seen], ask);
    return bids;
  }

  #bidFor(bids: Bids, state: ClaimState | undefined, ask: Ask): void {
    if (state === undefined || state.live === 0) return;
    const made = bids.made[state.id] ?? this.#bid(bids, state, ask);
    bids.made[state.id] = made;
    for (const bid of made) {
      if (bid.isIn) continue;
      bid.isIn = true;
      bid.heap.push(bid);
    }
  }

  /** The bids of a state: one, or one for each domain that it may still be narrowed to. */
  #bid({ anywhere, byDomain, limit }: Bids, state: ClaimState, ask: Ask): readonly Bid[] {
    const claim = state.first();
    if (claim === undefined) return NO_BIDS;
    const make = (heap: ClaimHeap, domain?: string): readonly Bid[] => {
      const rise = this.#evaluation.leastRise(claim, ask, domain);
      return rise === undefined || rise > limit + SAME_PRICE ? NO_BIDS : [{ rise, state, heap, isIn: false }];
    };
    const heapOf = (domain: string): ClaimHeap => {
      const heap = byDomain.get(domain) ?? new ClaimHeap();
      byDomain.set(domain, heap);
      return heap;
    };
    const key = ask.areas[0]?.key;
    if (key === undefined) return make(anywhere);
    const held = claim.set.requirements.get(key);
    const [only] = held !== undefined && !held.complement && held.values.size === 1 ? held.values : [];
    if (only !== undefined) return make(heapOf(only));
    const domains = this.domainsOf(key);
    if (domains.length === 0) return make(anywhere);
    return domains.flatMap((domain) => (held === undefined || has(held, domain) ? make(heapOf(domain), domain) : NO_BIDS));
  }

  #heaps({ anywhere, byDomain }: Bids, ask: Ask): readonly ClaimHeap[] {
    const [area] = ask.areas;
    if (area === undefined) return [anywhere];
    const open = this.#topology.open(area, ask, byDomain.keys());
    return [anywhere, ...open.flatMap((domain) => byDomain.get(domain) ?? [])];
  }

  /** Claims of a state to ask: one will do for all, unless hosts matter. */
  #claims(bids: Bids, state: ClaimState, ask: Ask): readonly PlannedClaim[] {
    if (ask.hosts.length === 0) {
      const claim = state.first();
      return claim === undefined ? [] : [claim];
    }
    const { arrivals } = state;
    let at = bids.openFrom[state.id] ?? 0;
    const isOpen = (claim: PlannedClaim | undefined): boolean => claim?.state === state && this.#evaluation.keepsHost(claim, ask);
    while (at < arrivals.length && !isOpen(arrivals[at])) at++;
    bids.openFrom[state.id] = at;
    if (ask.hosts.some(({ kind }) => kind === "affinity")) return arrivals.slice(at).filter(isOpen);
    const claim = arrivals[at];
    return claim === undefined ? [] : [claim];
  }
}

function lowest(heaps: readonly ClaimHeap[]): Bid | undefined {
  let best: Bid | undefined;
  for (const heap of heaps) {
    const bid = heap.peek();
    if (bid !== undefined && (best === undefined || isBefore(bid, best))) best = bid;
  }
  return best;
}
