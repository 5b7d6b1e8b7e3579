import { ownValue } from "../lib/own-value.ts";
import { HOSTNAME } from "../model/labels.ts";
import type { Pod } from "../model/pod.ts";
import { PRICE_TOLERANCE } from "../model/prices.ts";
import { CheapestClaim } from "./claims/cheapest-claim.ts";
import { Evaluation } from "./claims/evaluation.ts";
import { Limits } from "./claims/limits.ts";
import type { ClaimOutcome } from "./claims/outcome.ts";
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

/** A claim for one pod that is not part of the plan yet, and what it becomes with that pod. */
interface NewClaim {
  readonly claim: PlannedClaim;
  readonly outcome: ClaimOutcome;
}

/**
 * One greedy pass over all pods. Each pod goes to the first existing node that takes it, else to a claim planned so
 * far, else to a new claim of the first pool that can make one
 * (karpenter: pkg/controllers/provisioning/scheduling/scheduler.go, Scheduler.add).
 *
 *     const { claims, nodes, failed } = new Attempt(problem, { claims: "fewest-pods", seed: 0 }).run();
 */
export class Attempt {
  readonly problem: SchedulingProblem;
  readonly claims: PlannedClaim[] = [];
  readonly nodes: readonly NodeState[];
  readonly topology: TopologyState;
  /** Pods that fit nowhere, by class. */
  readonly failed = new Map<number, readonly Pod[]>();
  readonly #strategy: Strategy;
  /** Planned claims in the order in which they are tried. */
  #queue: PlannedClaim[] = [];
  /** By PodData.id and node: nodes that will not take such a pod in this attempt. */
  readonly #nodeRefusals: (Uint8Array | undefined)[] = [];
  /** For the strategy "least-added-price", and for the pods that "packed" proposals leave. */
  readonly #cheapestClaim: CheapestClaim;
  /** Whether claims are chosen by added price; otherwise by the order of the queue. */
  #isByAddedPrice: boolean;
  /** By PodData.quoteKey and claim: claims that will never take such a pod. */
  readonly #claimRefusals: (Uint8Array | undefined)[] = [];
  /** By PodData.id, for pods without topology rules that fitted nowhere: the number of claims then. */
  readonly #failedAt: number[] = [];
  readonly #reservations: Reservations;
  /**
   * Indexes of classes whose pods wait for the next run, because other claims of this run hold the reservations that
   * suit them.
   */
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
    this.#isByAddedPrice = strategy.claims === "least-added-price";
  }

  /**
   * Places pods class by class, and repeats while some pod was placed, because a pod may have affinity for one placed
   * after it.
   */
  run(): this {
    const { classes, virtual } = this.problem;
    const inOrder = this.#strategy.classes?.flatMap((index) => classes[index] ?? []) ?? classes;
    const isVirtual = ({ example }: PodClass): boolean => virtual.has(example);
    const order = virtual.size === 0 ? inOrder : [...inOrder.filter((podClass) => !isVirtual(podClass)), ...inOrder.filter(isVirtual)];
    const waiting = classes.map(({ pods }) => pods);
    if (this.#strategy.claims === "packed") this.#followProposals(order, waiting);
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
   * Puts pods on existing nodes, asks packing for new nodes for the others, and fills those. A pod that its proposed
   * node does not take stays in `waiting` (by class index) and is placed alone later. So are virtual pods, which come
   * after real ones.
   */
  #followProposals(order: readonly PodClass[], waiting: (readonly Pod[])[]): void {
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
    // The pods still waiting may join any of the claims.
    for (const claim of this.claims) this.#cheapestClaim.enter(claim);
    this.#isByAddedPrice = true;
  }

  /**
   * Puts a pod on the claim of a proposed node; the first pod of the node opens the claim. False when the claim refuses
   * the pod.
   */
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

  /** Tries the relaxation steps of a pod, strictest first; each step on all nodes and claims before the next. */
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

  /** Puts a pod on the first existing node that takes it. */
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
      const domainOf = (key: string): string | undefined => (key === HOSTNAME ? hostname : ownValue(labels, key));
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

  /** Puts a pod on a planned claim or on a new one. */
  #onClaim(podData: PodData, pod: Pod): boolean {
    if (!this.#isByAddedPrice) return this.#onPlanned(podData, pod) || this.#onNew(podData, pod, this.#newClaim(podData));
    let best = this.#cheapestClaim.best(podData, () => this.#likelyPrice(podData));
    if (best !== undefined && best.addedPrice < PRICE_TOLERANCE) return this.#join(best.claim.index, podData, pod, best.outcome);
    const opened = this.#newClaim(podData);
    const price = opened === undefined ? Number.POSITIVE_INFINITY : this.problem.nodeHour + opened.outcome.price;
    if (price > this.#cheapestClaim.limitOf(podData)) best = this.#cheapestClaim.bestOfAll(podData);
    if (best !== undefined && best.addedPrice <= price + PRICE_TOLERANCE) return this.#join(best.claim.index, podData, pod, best.outcome);
    return this.#onNew(podData, pod, opened);
  }

  /**
   * An estimate of a new claim's price for the pod, USD per hour: the highest over the domains that a topology rule may
   * narrow the claim to. Infinity without a claim.
   */
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

  /** Refusals by claim for pods of a quoteKey; long enough for all claims. */
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

  /** Puts a pod on the first claim of the queue that takes it. */
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

  /** Adds a pod to the claim at a place of the queue. */
  #join(at: number, podData: PodData, pod: Pod, outcome: ClaimOutcome): true {
    const claim = this.#queue[at];
    if (claim !== undefined) this.#commit(claim, podData, pod, outcome);
    this.#settle(at);
    return true;
  }

  /**
   * A claim of the first pool, by weight, that can make a node for the pod; prices of pools are not compared
   * (karpenter: pkg/controllers/provisioning/scheduling/scheduler.go, Scheduler.addToNewNodeClaim).
   */
  #newClaim(podData: PodData): NewClaim | undefined {
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

  /** Adds a new claim with its first pod to the plan. */
  #onNew(podData: PodData, pod: Pod, opened: NewClaim | undefined): boolean {
    if (opened === undefined) return false;
    const { claim, outcome } = opened;
    this.claims.push(claim);
    this.#queue.push(claim);
    this.#commit(claim, podData, pod, outcome);
    this.limits.open(claim);
    this.#settle(this.#queue.length - 1);
    return true;
  }

  /** Adds a pod to a claim, with all that is counted beside: reservations, limits, topology, prices. */
  #commit(claim: PlannedClaim, podData: PodData, pod: Pod, { set, price, reservations }: ClaimOutcome): void {
    if (reservations.length > 0 || claim.reservations.length > 0) this.#reservations.hold(claim, reservations);
    const charged = claim.pods.length > 0 ? this.limits.chargedFor(claim) : undefined;
    claim.price = price;
    claim.take(podData, pod, set, this.topology);
    this.#evaluation.settle(claim);
    if (this.#isByAddedPrice) this.#cheapestClaim.enter(claim);
    this.limits.narrowed(claim, charged);
  }

  /** Sorts the queue by number of pods again after its claim at `at` took a pod. */
  #settle(at: number): void {
    if (this.#strategy.claims !== "fewest-pods") return;
    const queue = this.#queue;
    const claim = queue[at];
    if (claim === undefined) return;
    let to = at;
    // A new claim is last and moves forward; a claim with one pod more moves back.
    for (let before = queue[to - 1]; before !== undefined && before.pods.length > claim.pods.length; before = queue[to - 1])
      queue[to--] = before;
    for (let after = queue[to + 1]; after !== undefined && after.pods.length < claim.pods.length; after = queue[to + 1])
      queue[to++] = after;
    queue[to] = claim;
  }
}
