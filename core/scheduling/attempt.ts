import { HOSTNAME } from "../model/labels.ts";
import type { Pod } from "../model/pod.ts";
import { PRICE_TOLERANCE } from "../model/prices.ts";
import { CheapestClaim } from "./claims/cheapest-claim.ts";
import { Evaluation } from "./claims/evaluation.ts";
import { Limits } from "./claims/limits.ts";
import type { Outcome } from "./claims/outcome.ts";
import { PlannedClaim } from "./claims/planned-claim.ts";
import { Reservations } from "./claims/reservations.ts";
import { type ProposedNode, proposeNodes } from "./packing/packing.ts";
import { NodeState } from "./problem/existing-node.ts";
import type { PodClass, PodData } from "./problem/pod-class.ts";
import type { SchedulingProblem } from "./problem/problem.ts";
import type { Strategy } from "./problem/strategy.ts";
import { TopologyState } from "./problem/topology-state.ts";
import { filterAdmitsNode } from "./rules/topology-group.ts";
import { isEmpty } from "./tables/bitset.ts";

const REFUSED = 1;

/** One pass over all pods. Greedy: existing nodes, then claims planned so far, then a new claim from the first pool that can. */
export class Attempt {
  readonly problem: SchedulingProblem;
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
  readonly #cheapestClaim: CheapestClaim;
  #isSearchOpen: boolean;
  /** Claims that will never take such a pod, by bidId. */
  readonly #claimRefusals: (Uint8Array | undefined)[] = [];
  /** Ask without topology that fitted nowhere: number of claims that there were. */
  readonly #failedAt: number[] = [];
  readonly #reservations: Reservations;
  /** Classes whose pods wait for the next run, since reservations that suit them were taken in this one. */
  readonly deferred = new Set<number>();
  readonly limits: Limits;
  readonly #evaluation: Evaluation;

  constructor(problem: SchedulingProblem, strategy: Strategy) {
    this.problem = problem;
    this.#strategy = strategy;
    this.nodes = problem.nodes.map((node) => new NodeState(node));
    this.topology = new TopologyState(problem.groups);
    this.#reservations = new Reservations(problem.reservations);
    this.limits = new Limits(problem.templates);
    this.#evaluation = new Evaluation(problem, this.topology, this.#reservations, strategy.seed);
    this.#cheapestClaim = new CheapestClaim(problem, this.#evaluation, this.topology);
    this.#isSearchOpen = strategy.claims === "least-added-price";
  }

  /** Places pods class by class, and goes round again while some could be placed: a pod may have waited for its companion. */
  run(): this {
    const { classes, virtual } = this.problem;
    const wished = this.#strategy.classes?.flatMap((index) => classes[index] ?? []) ?? classes;
    const isVirtual = ({ example }: PodClass): boolean => virtual.has(example);
    const order = virtual.size === 0 ? wished : [...wished.filter((podClass) => !isVirtual(podClass)), ...wished.filter(isVirtual)];
    const waiting = classes.map(({ pods }) => pods);
    if (this.#strategy.claims === "packed") this.#followRecipes(order, waiting);
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
    const { virtual } = this.problem;
    const real = order.filter(({ example }) => !virtual.has(example));
    for (const { index, pods } of this.nodes.length > 0 ? real : []) {
      const podData = this.problem.relaxations[index]?.[0];
      if (podData !== undefined && podData.contradiction === undefined) waiting[index] = pods.filter((pod) => !this.#onNode(podData, pod));
    }
    const left = this.problem.classes.map(({ index, example }) => (virtual.has(example) ? 0 : (waiting[index]?.length ?? 0)));
    const proposals = proposeNodes(this.problem, left, this.topology);
    const claims: (PlannedClaim | undefined)[] = [];
    for (const { index } of real) {
      const podData = this.problem.relaxations[index]?.[0];
      const targets = proposals?.targets[index];
      if (proposals === undefined || podData === undefined || targets === undefined) continue;
      waiting[index] = (waiting[index] ?? []).filter((pod, i) => {
        const proposed = proposals.nodes[targets[i] ?? -1];
        return proposed === undefined || !this.#onProposedNode(proposed, claims, targets[i] ?? -1, podData, pod);
      });
    }
    // The rest may join any of the claims.
    for (const claim of this.claims) this.#cheapestClaim.enter(claim);
    this.#isSearchOpen = true;
  }

  #onProposedNode({ template, set }: ProposedNode, claims: (PlannedClaim | undefined)[], at: number, podData: PodData, pod: Pod): boolean {
    const known = claims[at];
    const claim =
      known ?? new PlannedClaim(this.claims.length, template, this.limits.typesWithin(template), this.problem.axis.names.length);
    if (known === undefined) claim.set = set;
    const outcome = this.#evaluation.evaluate(claim, podData);
    if (typeof outcome !== "object") return false;
    if (known !== undefined) this.#commit(claim, podData, pod, outcome);
    else {
      claims[at] = claim;
      this.#onNew(podData, pod, { claim, outcome });
    }
    return true;
  }

  /** Tries the class' shapes, strictest first; each everywhere before the next. */
  #placeOne(index: number, pod: Pod): boolean {
    if ((pod.spec.resourceClaims ?? []).length > 0) return false;
    for (const podData of this.problem.relaxations[index] ?? []) {
      if (podData.contradiction !== undefined) continue;
      if (!podData.hasTopology && this.#failedAt[podData.id] === this.claims.length) continue;
      if (this.#onNode(podData, pod) || this.#onClaim(podData, pod)) return true;
      this.#failedAt[podData.id] = this.claims.length;
      if (this.deferred.has(index)) return false;
    }
    return false;
  }

  #onNode(podData: PodData, pod: Pod): boolean {
    if (this.nodes.length === 0) return false;
    let refusals = this.#nodeRefusals[podData.id];
    if (refusals === undefined) {
      refusals = new Uint8Array(this.nodes.length);
      this.#nodeRefusals[podData.id] = refusals;
    }
    const isMoved = this.problem.moved.has(pod);
    for (let i = 0; i < this.nodes.length; i++) {
      if (refusals[i] === REFUSED) continue;
      const state = this.nodes[i];
      if (state === undefined) continue;
      if (!state.accepts(podData)) {
        refusals[i] = REFUSED;
        continue;
      }
      if (!state.attaches(podData, pod)) continue;
      const { labels, taints, hostname, name } = state.node.view;
      if (isMoved && this.problem.settling.has(name)) continue;
      const domainOf = (key: string): string | undefined => (key === HOSTNAME ? hostname : labels[key]);
      if (!podData.deciding.every((group) => this.topology.allows(group, podData, domainOf(group.key)))) continue;
      state.take(podData, pod);
      for (const group of podData.counting) {
        const domain = domainOf(group.key);
        if (domain !== undefined && filterAdmitsNode(group.filter, labels, taints)) this.topology.add(group, domain, 1);
      }
      return true;
    }
    return false;
  }

  #onClaim(podData: PodData, pod: Pod): boolean {
    if (!this.#isSearchOpen) return this.#onPlanned(podData, pod) || this.#onNew(podData, pod, this.#newClaim(podData));
    let best = this.#cheapestClaim.best(podData, () => this.#likelyPrice(podData));
    if (best !== undefined && best.addedPrice < PRICE_TOLERANCE) return this.#join(best.claim.index, podData, pod, best.outcome);
    const fresh = this.#newClaim(podData);
    const price = fresh === undefined ? Number.POSITIVE_INFINITY : this.problem.nodeHour + fresh.outcome.price;
    if (price > this.#cheapestClaim.limitOf(podData)) best = this.#cheapestClaim.bestOfAll(podData);
    if (best !== undefined && best.addedPrice <= price + PRICE_TOLERANCE) return this.#join(best.claim.index, podData, pod, best.outcome);
    return this.#onNew(podData, pod, fresh);
  }

  /** What a new claim for the pod costs (USD per hour), in the dearest of the domains that may be asked of it; Infinity without one. */
  #likelyPrice(podData: PodData): number {
    for (const template of this.problem.templates) {
      const claim = new PlannedClaim(this.claims.length, template, template.types, this.problem.axis.names.length);
      const [area] = podData.areas;
      const domains = area === undefined ? [] : this.#cheapestClaim.domainsOf(area.key);
      const prices = (domains.length === 0 ? [undefined] : domains).flatMap(
        (domain) => this.#evaluation.leastAddedPrice(claim, podData, domain) ?? [],
      );
      if (prices.length > 0) return this.problem.nodeHour + Math.max(...prices);
    }
    return Number.POSITIVE_INFINITY;
  }

  #refusalsOf(podData: PodData): Uint8Array {
    let refusals = this.#claimRefusals[podData.quoteKey];
    if (refusals === undefined || refusals.length < this.claims.length) {
      const grown = new Uint8Array(Math.max(64, this.claims.length * 2));
      if (refusals !== undefined) grown.set(refusals);
      refusals = grown;
      this.#claimRefusals[podData.quoteKey] = grown;
    }
    return refusals;
  }

  #onPlanned(podData: PodData, pod: Pod): boolean {
    const refusals = this.#refusalsOf(podData);
    for (let at = 0; at < this.#queue.length; at++) {
      const claim = this.#queue[at];
      if (claim === undefined || refusals[claim.index] === REFUSED) continue;
      const outcome = this.#evaluation.evaluate(claim, podData);
      if (outcome === "never") refusals[claim.index] = REFUSED;
      else if (typeof outcome === "object") return this.#join(at, podData, pod, outcome);
    }
    return false;
  }

  #join(at: number, podData: PodData, pod: Pod, outcome: Outcome): true {
    const claim = this.#queue[at];
    if (claim !== undefined) this.#commit(claim, podData, pod, outcome);
    this.#settle(at);
    return true;
  }

  /** The first pool that can make a node for the pod, by weight; prices of pools are not compared. */
  #newClaim(podData: PodData): { readonly claim: PlannedClaim; readonly outcome: Outcome } | undefined {
    for (const template of this.problem.templates) {
      const types = this.limits.typesWithin(template);
      if (isEmpty(types)) continue;
      const claim = new PlannedClaim(this.claims.length, template, types, this.problem.axis.names.length);
      const outcome = this.#evaluation.evaluate(claim, podData);
      if (typeof outcome === "object") return { claim, outcome };
      if (outcome === "reserved") {
        this.deferred.add(podData.class.index);
        return undefined;
      }
    }
    return undefined;
  }

  #onNew(podData: PodData, pod: Pod, fresh: { readonly claim: PlannedClaim; readonly outcome: Outcome } | undefined): boolean {
    if (fresh === undefined) return false;
    const { claim, outcome } = fresh;
    this.claims.push(claim);
    this.#queue.push(claim);
    this.#commit(claim, podData, pod, outcome);
    this.limits.open(claim);
    this.#settle(this.#queue.length - 1);
    return true;
  }

  #commit(claim: PlannedClaim, podData: PodData, pod: Pod, { set, price, reservations }: Outcome): void {
    if (reservations.length > 0 || claim.reservations.length > 0) this.#reservations.hold(claim, reservations);
    const charged = claim.pods.length > 0 ? this.limits.chargedFor(claim) : undefined;
    claim.price = price;
    claim.take(podData, pod, set, this.topology);
    this.#evaluation.settle(claim);
    if (this.#isSearchOpen) this.#cheapestClaim.enter(claim);
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
