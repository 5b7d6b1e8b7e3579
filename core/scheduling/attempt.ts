import { HOSTNAME } from "../model/labels.ts";
import type { Pod } from "../model/pod.ts";
import { Auction, SAME_PRICE } from "./claims/cheapest-claim.ts";
import { Evaluation } from "./claims/evaluation.ts";
import { Limits } from "./claims/limits.ts";
import type { Outcome } from "./claims/outcome.ts";
import { PlannedClaim } from "./claims/planned-claim.ts";
import { Reservations } from "./claims/reservations.ts";
import { type Machine, recipesFor } from "./packing/packing.ts";
import { NodeState } from "./problem/existing-node.ts";
import type { Ask, PodClass } from "./problem/pod-class.ts";
import type { World } from "./problem/problem.ts";
import type { Strategy } from "./problem/strategy.ts";
import { TopologyState } from "./problem/topology-state.ts";
import { filterAdmitsNode } from "./rules/topology-group.ts";
import { isEmpty } from "./tables/bitset.ts";

const REFUSED = 1;

/** One pass over all pods. Greedy: existing nodes, then claims planned so far, then a new claim from the first pool that can. */
export class Attempt {
  readonly world: World;
  readonly claims: PlannedClaim[] = [];
  readonly nodes: readonly NodeState[];
  readonly topology: TopologyState;
  /** Pods that fit nowhere, by class. */
  readonly failed = new Map<number, readonly Pod[]>();
  readonly #strategy: Strategy;
  /** Claims in the order in which they are tried. */
  #queue: PlannedClaim[] = [];
  readonly #nodeRefusals: (Uint8Array | undefined)[] = [];
  /** For "least-rise", and for what "recipes" leave over. */
  readonly #auction: Auction;
  #isAuctionOpen: boolean;
  /** Claims that will never take such a pod, by bidId. */
  readonly #claimRefusals: (Uint8Array | undefined)[] = [];
  /** Ask without topology that fitted nowhere: number of claims that there were. */
  readonly #failedAt: number[] = [];
  readonly #reservations: Reservations;
  /** Classes whose pods wait for the next run, since reservations that suit them were taken in this one. */
  readonly deferred = new Set<number>();
  readonly limits: Limits;
  readonly #evaluation: Evaluation;

  constructor(world: World, strategy: Strategy) {
    this.world = world;
    this.#strategy = strategy;
    this.nodes = world.nodes.map((node) => new NodeState(node));
    this.topology = new TopologyState(world.groups);
    this.#reservations = new Reservations(world.reservations);
    this.limits = new Limits(world.templates);
    this.#evaluation = new Evaluation(world, this.topology, this.#reservations, strategy.seed);
    this.#auction = new Auction(world, this.#evaluation, this.topology);
    this.#isAuctionOpen = strategy.claims === "least-rise";
  }

  /** Places pods class by class, and goes round again while some could be placed: a pod may have waited for its companion. */
  run(): this {
    const { classes, virtual } = this.world;
    const wished = this.#strategy.classes?.flatMap((index) => classes[index] ?? []) ?? classes;
    const isVirtual = ({ example }: PodClass): boolean => virtual.has(example);
    const order = virtual.size === 0 ? wished : [...wished.filter((podClass) => !isVirtual(podClass)), ...wished.filter(isVirtual)];
    const waiting = classes.map(({ pods }) => pods);
    if (this.#strategy.claims === "recipes") this.#followRecipes(order, waiting);
    const next = classes.map(() => 0);
    for (let progress = true; progress; ) {
      progress = false;
      for (const { index } of order) {
        const pods = waiting[index] ?? [];
        let at = next[index] ?? 0;
        for (let pod = pods[at]; pod !== undefined && this.#placeOne(index, pod); pod = pods[at]) {
          at++;
          progress = true;
        }
        next[index] = at;
      }
    }
    for (const { index } of classes) {
      const left = (waiting[index] ?? []).slice(next[index] ?? 0);
      if (left.length > 0) this.failed.set(index, left);
    }
    return this;
  }

  /**
   * Puts pods on existing nodes, has machines proposed for the others, and fills those. Pods for which that does not work out stay in `waiting`, to be
   * placed one by one, and so do virtual ones, which come after those that exist.
   */
  #followRecipes(order: readonly PodClass[], waiting: (readonly Pod[])[]): void {
    const { virtual } = this.world;
    const real = order.filter(({ example }) => !virtual.has(example));
    for (const { index, pods } of this.nodes.length > 0 ? real : []) {
      const ask = this.world.asks[index]?.[0];
      if (ask !== undefined && ask.contradiction === undefined) waiting[index] = pods.filter((pod) => !this.#onNode(ask, pod));
    }
    const left = this.world.classes.map(({ index, example }) => (virtual.has(example) ? 0 : (waiting[index]?.length ?? 0)));
    const recipes = recipesFor(this.world, left, this.topology);
    const claims: (PlannedClaim | undefined)[] = [];
    for (const { index } of real) {
      const ask = this.world.asks[index]?.[0];
      const targets = recipes?.targets[index];
      if (recipes === undefined || ask === undefined || targets === undefined) continue;
      waiting[index] = (waiting[index] ?? []).filter((pod, i) => {
        const machine = recipes.machines[targets[i] ?? -1];
        return machine === undefined || !this.#onMachine(machine, claims, targets[i] ?? -1, ask, pod);
      });
    }
    // The rest may join any of the claims.
    for (const claim of this.claims) this.#auction.enter(claim);
    this.#isAuctionOpen = true;
  }

  #onMachine({ template, set }: Machine, claims: (PlannedClaim | undefined)[], at: number, ask: Ask, pod: Pod): boolean {
    const known = claims[at];
    const claim = known ?? new PlannedClaim(this.claims.length, template, this.limits.typesWithin(template), this.world.axis.names.length);
    if (known === undefined) claim.set = set;
    const outcome = this.#evaluation.evaluate(claim, ask);
    if (typeof outcome !== "object") return false;
    if (known !== undefined) this.#commit(claim, ask, pod, outcome);
    else {
      claims[at] = claim;
      this.#onNew(ask, pod, { claim, outcome });
    }
    return true;
  }

  /** Tries the class' shapes, strictest first; each everywhere before the next. */
  #placeOne(index: number, pod: Pod): boolean {
    if ((pod.spec.resourceClaims ?? []).length > 0) return false;
    for (const ask of this.world.asks[index] ?? []) {
      if (ask.contradiction !== undefined) continue;
      if (!ask.hasTopology && this.#failedAt[ask.id] === this.claims.length) continue;
      if (this.#onNode(ask, pod) || this.#onClaim(ask, pod)) return true;
      this.#failedAt[ask.id] = this.claims.length;
      if (this.deferred.has(index)) return false;
    }
    return false;
  }

  #onNode(ask: Ask, pod: Pod): boolean {
    if (this.nodes.length === 0) return false;
    let refusals = this.#nodeRefusals[ask.id];
    if (refusals === undefined) {
      refusals = new Uint8Array(this.nodes.length);
      this.#nodeRefusals[ask.id] = refusals;
    }
    const isMoved = this.world.moved.has(pod);
    for (let i = 0; i < this.nodes.length; i++) {
      if (refusals[i] === REFUSED) continue;
      const state = this.nodes[i];
      if (state === undefined) continue;
      if (!state.accepts(ask)) {
        refusals[i] = REFUSED;
        continue;
      }
      if (!state.attaches(ask, pod)) continue;
      const { labels, taints, hostname, name } = state.node.view;
      if (isMoved && this.world.settling.has(name)) continue;
      const domainOf = (key: string): string | undefined => (key === HOSTNAME ? hostname : labels[key]);
      if (!ask.deciding.every((group) => this.topology.allows(group, ask, domainOf(group.key)))) continue;
      state.take(ask, pod);
      for (const group of ask.counting) {
        const domain = domainOf(group.key);
        if (domain !== undefined && filterAdmitsNode(group.filter, labels, taints)) this.topology.add(group, domain, 1);
      }
      return true;
    }
    return false;
  }

  #onClaim(ask: Ask, pod: Pod): boolean {
    if (!this.#isAuctionOpen) return this.#onPlanned(ask, pod) || this.#onNew(ask, pod, this.#newClaim(ask));
    let best = this.#auction.best(ask, () => this.#likelyPrice(ask));
    if (best !== undefined && best.rise < SAME_PRICE) return this.#join(best.claim.index, ask, pod, best.outcome);
    const fresh = this.#newClaim(ask);
    const price = fresh === undefined ? Number.POSITIVE_INFINITY : this.world.nodeHour + fresh.outcome.price;
    if (price > this.#auction.limitOf(ask)) best = this.#auction.bestOfAll(ask);
    if (best !== undefined && best.rise <= price + SAME_PRICE) return this.#join(best.claim.index, ask, pod, best.outcome);
    return this.#onNew(ask, pod, fresh);
  }

  /** What a new claim for the pod costs (USD per hour), in the dearest of the domains that may be asked of it; Infinity without one. */
  #likelyPrice(ask: Ask): number {
    for (const template of this.world.templates) {
      const claim = new PlannedClaim(this.claims.length, template, template.types, this.world.axis.names.length);
      const [area] = ask.areas;
      const domains = area === undefined ? [] : this.#auction.domainsOf(area.key);
      const prices = (domains.length === 0 ? [undefined] : domains).flatMap(
        (domain) => this.#evaluation.leastRise(claim, ask, domain) ?? [],
      );
      if (prices.length > 0) return this.world.nodeHour + Math.max(...prices);
    }
    return Number.POSITIVE_INFINITY;
  }

  #refusalsOf(ask: Ask): Uint8Array {
    let refusals = this.#claimRefusals[ask.bidId];
    if (refusals === undefined || refusals.length < this.claims.length) {
      const grown = new Uint8Array(Math.max(64, this.claims.length * 2));
      if (refusals !== undefined) grown.set(refusals);
      refusals = grown;
      this.#claimRefusals[ask.bidId] = grown;
    }
    return refusals;
  }

  #onPlanned(ask: Ask, pod: Pod): boolean {
    const refusals = this.#refusalsOf(ask);
    for (let at = 0; at < this.#queue.length; at++) {
      const claim = this.#queue[at];
      if (claim === undefined || refusals[claim.index] === REFUSED) continue;
      const outcome = this.#evaluation.evaluate(claim, ask);
      if (outcome === "never") refusals[claim.index] = REFUSED;
      else if (typeof outcome === "object") return this.#join(at, ask, pod, outcome);
    }
    return false;
  }

  #join(at: number, ask: Ask, pod: Pod, outcome: Outcome): true {
    const claim = this.#queue[at];
    if (claim !== undefined) this.#commit(claim, ask, pod, outcome);
    this.#settle(at);
    return true;
  }

  /** The first pool that can make a node for the pod, by weight; prices of pools are not compared. */
  #newClaim(ask: Ask): { readonly claim: PlannedClaim; readonly outcome: Outcome } | undefined {
    for (const template of this.world.templates) {
      const types = this.limits.typesWithin(template);
      if (isEmpty(types)) continue;
      const claim = new PlannedClaim(this.claims.length, template, types, this.world.axis.names.length);
      const outcome = this.#evaluation.evaluate(claim, ask);
      if (typeof outcome === "object") return { claim, outcome };
      if (outcome === "reserved") {
        this.deferred.add(ask.class.index);
        return undefined;
      }
    }
    return undefined;
  }

  #onNew(ask: Ask, pod: Pod, fresh: { readonly claim: PlannedClaim; readonly outcome: Outcome } | undefined): boolean {
    if (fresh === undefined) return false;
    const { claim, outcome } = fresh;
    this.claims.push(claim);
    this.#queue.push(claim);
    this.#commit(claim, ask, pod, outcome);
    this.limits.open(claim);
    this.#settle(this.#queue.length - 1);
    return true;
  }

  #commit(claim: PlannedClaim, ask: Ask, pod: Pod, { set, price, reservations }: Outcome): void {
    if (reservations.length > 0 || claim.reservations.length > 0) this.#reservations.hold(claim, reservations);
    const charged = claim.pods.length > 0 ? this.limits.chargedFor(claim) : undefined;
    claim.price = price;
    claim.take(ask, pod, set, this.topology);
    this.#evaluation.settle(claim);
    if (this.#isAuctionOpen) this.#auction.enter(claim);
    this.limits.narrowed(claim, charged);
  }

  /** Keeps the queue in order after its claim at `at` took a pod. */
  #settle(at: number): void {
    if (this.#strategy.claims !== "fewest-pods") return;
    const queue = this.#queue;
    const claim = queue[at];
    if (claim === undefined) return;
    let to = at;
    // A new claim stands last and moves forward; a filled one moves back.
    for (let before = queue[to - 1]; before !== undefined && before.pods.length > claim.pods.length; before = queue[to - 1])
      queue[to--] = before;
    for (let after = queue[to + 1]; after !== undefined && after.pods.length < claim.pods.length; after = queue[to + 1])
      queue[to++] = after;
    queue[to] = claim;
  }
}
