import type { Pod } from "../model/pod.ts";
import { PRICE_TOLERANCE } from "../model/prices.ts";
import { CheapestClaim } from "./claims/cheapest-claim.ts";
import { ClaimQueue } from "./claims/claim-queue.ts";
import { Evaluation } from "./claims/evaluation.ts";
import { Limits } from "./claims/limits.ts";
import { type ClaimMaker, type ClaimWithPod, costOf, likelyPriceFor, newClaimFor } from "./claims/new-claim.ts";
import type { ClaimOutcome } from "./claims/outcome.ts";
import { PlannedClaim } from "./claims/planned-claim.ts";
import { Reservations } from "./claims/reservations.ts";
import { type NodeProposals, type ProposedNode, proposeNodes } from "./packing/packing.ts";
import { NodeState } from "./problem/existing-node.ts";
import { heaviestPoolsFor } from "./problem/heaviest-pools.ts";
import type { PodClass, PodData } from "./problem/pod-class.ts";
import { possibleDomains } from "./problem/possible-domains.ts";
import type { SchedulingProblem } from "./problem/problem.ts";
import { putOnNode } from "./problem/put-on-node.ts";
import type { Strategy } from "./problem/strategy.ts";
import { byRank, type Template } from "./problem/template.ts";
import { TopologyState } from "./problem/topology-state.ts";
import { type Bitset, isEmpty } from "./tables/bitset.ts";

const REFUSED = 1;
/** Rounds of packing in one attempt: one more each time that limits refuse nodes. No benchmark has tuned it. */
const MAX_PACKING_ROUNDS = 4;
/**
 * Steps of one attempt (Evaluation.steps) before it compares pods with few claims only. 50,000 pods of deployments take
 * a tenth of it; 10,000 pods that are all different then end within seconds (`npm run -s bench -- --shapes`).
 */
const MAX_STEPS = 8_000_000;

/**
 * One greedy pass over all pods. Each pod goes to the first existing node that takes it, else to a claim planned so
 * far or a new one, of the heaviest pools that can take it
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
  /** Whether pools and limits are used in Karpenter's way (Strategy.isKarpenters). */
  #isKarpenters: boolean;
  /** For strategies that do not choose claims by added price. */
  readonly #queue: ClaimQueue;
  /** By PodData.id and node: nodes that will not take such a pod in this attempt. */
  readonly #nodeRefusals: (Uint8Array | undefined)[] = [];
  /** By rank of the pool. For the strategy "least-added-price", and for the pods that "packed" proposals leave. */
  readonly #cheapestClaims: readonly CheapestClaim[];
  /** Pools by rank, the heaviest first; all pools in one list as long as they are used in Karpenter's way. */
  #ranks: readonly (readonly Template[])[];
  /** Whether claims are chosen by added price; otherwise by the order of the queue. */
  #isByAddedPrice: boolean;
  /** By PodData.id, for pods without topology rules that fitted nowhere: the number of claims then. */
  readonly #failedAt: number[] = [];
  readonly #reservations: Reservations;
  /**
   * Indexes of classes whose pods wait for the next run, because other claims of this run hold the reservations that
   * suit them.
   */
  readonly deferred = new Set<number>();
  readonly limits: Limits;
  /** What packing proposed; undefined without the strategy "packed". */
  #proposals: NodeProposals | undefined;
  readonly #evaluation: Evaluation;
  readonly #maker: ClaimMaker;

  /** After `maxSteps` (Evaluation.steps), pods are compared with few claims, so that the attempt ends. */
  constructor(problem: SchedulingProblem, strategy: Strategy, maxSteps = MAX_STEPS) {
    this.problem = problem;
    this.#strategy = strategy;
    this.nodes = problem.nodes.map((node) => new NodeState(node));
    this.topology = new TopologyState(problem.groups, { countsOpenDomains: strategy.countsOpenDomains ?? false });
    this.#reservations = new Reservations(problem.reservations);
    this.#isKarpenters = strategy.isKarpenters ?? false;
    this.limits = new Limits(problem.templates, strategy.isKarpenters ? "largest" : "cheapest");
    this.#evaluation = new Evaluation(problem, this.topology, this.#reservations, this.limits, strategy.seed, maxSteps);
    this.#maker = { evaluation: this.#evaluation, limits: this.limits, width: problem.axis.names.length };
    this.#ranks = strategy.isKarpenters ? [problem.templates] : byRank(problem.templates);
    this.#cheapestClaims = this.#ranks.map(() => new CheapestClaim(problem, this.#evaluation, this.topology));
    this.#queue = new ClaimQueue(problem, this.#evaluation, strategy.claims === "fewest-pods");
    this.#isByAddedPrice = strategy.claims === "least-added-price";
  }

  /**
   * Places pods class by class, and repeats while some pod was placed, because a pod may have affinity for one placed
   * after it. Karpenter's strategy continues in our way with the pods that Karpenter's way leaves.
   */
  run(): this {
    const { classes, virtual } = this.problem;
    const inOrder = this.#strategy.classes?.flatMap((index) => classes[index] ?? []) ?? classes;
    const isVirtual = ({ example }: PodClass): boolean => virtual.has(example);
    const order = virtual.size === 0 ? inOrder : [...inOrder.filter((podClass) => !isVirtual(podClass)), ...inOrder.filter(isVirtual)];
    const waiting = classes.map(({ pods }) => pods);
    if (this.#strategy.claims === "packed") this.#followProposals(order, waiting);
    const next = classes.map(() => 0);
    this.#placeAll(order, waiting, next);
    if (this.#isKarpenters) {
      // The limits may have room for more pods, and for cheaper types, when claims count by their cheapest types.
      for (const claim of this.limits.chargeCheapest()) {
        claim.reopen();
        this.#evaluation.settle(claim);
        this.limits.settle(claim);
      }
      this.#isKarpenters = false;
      this.#ranks = byRank(this.problem.templates);
      this.#failedAt.length = 0;
      this.#placeAll(order, waiting, next);
    }
    if (this.#strategy.leavesOutImpossible) this.#placeLast(order, waiting, next);
    for (const { index } of classes) {
      const left = (waiting[index] ?? []).slice(next[index] ?? 0);
      if (left.length > 0) this.failed.set(index, this.#lastOf(index, left));
    }
    return this;
  }

  /** Strategy.leavesOutImpossible: the last pass, for pods that fit nowhere. */
  #placeLast(order: readonly PodClass[], waiting: readonly (readonly Pod[])[], next: number[]): void {
    this.topology.possible = possibleDomains(this.problem);
    this.#failedAt.length = 0;
    this.#placeAll(order, waiting, next);
  }

  /**
   * As many pods as are left of a class, but its last ones, which every strategy leaves first: pods that packing left
   * change places on new claims with them.
   */
  #lastOf(index: number, left: readonly Pod[]): readonly Pod[] {
    const podClass = this.problem.classes[index];
    if (podClass === undefined || podClass.attaches !== undefined) return left;
    const tail = podClass.pods.slice(-left.length);
    if (tail.every((pod, i) => pod === left[i])) return left;
    const last = new Set(tail);
    const lefts = new Set(left);
    const placed = last.difference(lefts);
    const others = lefts.difference(last);
    const giving = [...others];
    for (const { pods } of this.claims) {
      for (const [at, pod] of pods.entries()) {
        const other = placed.delete(pod) ? giving.pop() : undefined;
        if (other !== undefined) pods[at] = other;
      }
    }
    // Those that are on existing nodes stay there.
    const remaining = new Set(giving);
    return podClass.pods.filter((pod) => (last.has(pod) && !placed.has(pod)) || remaining.has(pod));
  }

  /** Steps taken (Evaluation.steps). */
  get steps(): number {
    return this.#evaluation.steps;
  }

  /**
   * Whether the new nodes are those that packing proposed for all pods, for what it said that they cost: no attempt
   * costs less, if the proposal was optimal.
   */
  follows(cost: number): "optimal" | "packed" | undefined {
    const proposals = this.#proposals;
    if (proposals === undefined || this.failed.size > 0 || this.nodes.some(({ pods }) => pods.length > 0)) return undefined;
    if (Math.abs(cost - proposals.cost) > PRICE_TOLERANCE) return undefined;
    return proposals.isOptimal ? "optimal" : "packed";
  }

  /** Places pods class by class as long as some pod is placed; `next` counts those of each class. */
  #placeAll(order: readonly PodClass[], waiting: readonly (readonly Pod[])[], next: number[]): void {
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
  }

  /**
   * Puts pods on existing nodes, asks packing for new nodes for the others, and fills those; when limits refuse nodes,
   * packing is asked again without those pools. A pod that its proposed node does not take stays in `waiting` (by class
   * index) and is placed alone later. So are virtual pods, which come after real ones.
   */
  #followProposals(order: readonly PodClass[], waiting: (readonly Pod[])[]): void {
    const { virtual } = this.problem;
    const real = order.filter(({ example }) => !virtual.has(example));
    for (const { index, pods } of this.nodes.length > 0 ? real : []) {
      const podData = this.problem.relaxations[index]?.[0];
      if (podData === undefined) continue;
      waiting[index] = pods.filter((pod) => {
        if (podData.isAlternative) return !this.#onNodeByAnyTerm(index, pod);
        return podData.contradiction !== undefined || !this.#onNode(podData, pod);
      });
    }
    const isReal = new Set(real.map(({ index }) => index));
    const spent = new Set<Template>();
    const narrowed = new Map<Template, Bitset>();
    for (let round = 0; round < MAX_PACKING_ROUNDS; round++) {
      const left = waiting.map((pods, index) => (isReal.has(index) ? pods.length : 0));
      const proposals = proposeNodes(this.problem, left, this.topology, spent, narrowed);
      this.#proposals ??= proposals;
      if (proposals === undefined || !this.#followRound(real, waiting, proposals, spent)) break;
      // What commitments still leave is for smaller machines; the last round is without them.
      for (const template of round < MAX_PACKING_ROUNDS - 2 ? spent : []) {
        if (template.paidFor === undefined) continue;
        narrowed.set(template, this.limits.typesWithin(template));
        if (!isEmpty(this.limits.typesWithin(template))) spent.delete(template);
      }
    }
    this.#isByAddedPrice = true;
  }

  /**
   * One round of `#followProposals`: false when no further round is worth it, because the limits leave room for all
   * proposed nodes. Adds the pools of the others to `spent`. What such a pool's limits still leave is filled pod by
   * pod, if the pods would fall to a lighter pool otherwise.
   */
  #followRound(real: readonly PodClass[], waiting: (readonly Pod[])[], proposals: NodeProposals, spent: Set<Template>): boolean {
    const nodes = this.limits.affordable(proposals.nodes);
    const claims: (PlannedClaim | undefined)[] = [];
    const refused: { readonly podData: PodData; readonly pod: Pod; readonly rank: number }[] = [];
    this.#isByAddedPrice = false;
    for (const { index } of real) {
      const podData = this.problem.relaxations[index]?.[0];
      const targets = proposals.targets[index];
      if (podData === undefined || targets === undefined) continue;
      waiting[index] = (waiting[index] ?? []).filter((pod, i) => {
        const at = targets[i] ?? -1;
        const [node, proposed] = [nodes[at], proposals.nodes[at]];
        if (node !== undefined) return !this.#onProposedNode(node, claims, at, podData, pod);
        if (proposed !== undefined) {
          refused.push({ podData, pod, rank: proposed.template.rank });
          spent.add(proposed.template);
        }
        return true;
      });
    }
    // The pods still waiting may join any of the claims.
    for (const claim of claims) if (claim !== undefined) this.#cheapestClaims[claim.template.rank]?.enter(claim);
    this.#isByAddedPrice = true;
    const placed = new Set<Pod>();
    for (const { podData, pod, rank } of refused) {
      if (heaviestPoolsFor(this.problem, podData, spent)?.pools[0]?.rank === rank) continue;
      if (this.#onClaimOf(rank, this.#ranks[rank] ?? [], podData, pod) === true) placed.add(pod);
    }
    for (const { index } of placed.size > 0 ? real : []) waiting[index] = (waiting[index] ?? []).filter((pod) => !placed.has(pod));
    return refused.length > placed.size;
  }

  /**
   * Puts a pod on the claim of a proposed node; the first pod of the node opens the claim. False when the claim refuses
   * the pod.
   */
  #onProposedNode({ template, set }: ProposedNode, claims: (PlannedClaim | undefined)[], at: number, podData: PodData, pod: Pod): boolean {
    const known = claims[at];
    const claim = known ?? new PlannedClaim(this.claims.length, template, this.limits.base(template), this.problem.axis.names.length);
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
    if (!this.#isKarpenters && this.#onNodeByAnyTerm(index, pod)) return true;
    for (const podData of this.problem.relaxations[index] ?? []) {
      if (podData.contradiction !== undefined) continue;
      if (!podData.hasTopology && this.#failedAt[podData.id] === this.claims.length) continue;
      if (this.#onNode(podData, pod) || this.#onClaim(podData, pod)) return true;
      this.#failedAt[podData.id] = this.claims.length;
      if (this.deferred.has(index)) return false;
    }
    return false;
  }

  /** Puts a pod with OR-ed terms on the first existing node that takes it by one of them: that costs nothing. */
  #onNodeByAnyTerm(index: number, pod: Pod): boolean {
    if (this.nodes.length === 0) return false;
    for (const podData of this.problem.relaxations[index] ?? []) {
      if (!podData.isAlternative || !podData.isWhole) return false;
      if (podData.contradiction === undefined && this.#onNode(podData, pod)) return true;
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
      const state = this.nodes[i];
      if (state === undefined || refusals[i] === REFUSED) continue;
      if (isMoved && this.problem.settling.has(state.node.view.name)) continue;
      const outcome = putOnNode(state, podData, pod, this.topology);
      if (outcome === "placed") return true;
      if (outcome === "never") refusals[i] = REFUSED;
    }
    return false;
  }

  /**
   * Puts a pod on a planned claim or on a new one: of the heaviest pools that can take the pod. When reservations that
   * suit the pod are taken, the pod waits for them, unless a planned claim of a lighter pool takes it.
   */
  #onClaim(podData: PodData, pod: Pod): boolean {
    let waits = false;
    for (const [rank, templates] of this.#ranks.entries()) {
      const result = this.#onClaimOf(rank, waits ? [] : templates, podData, pod);
      if (result === true) return true;
      waits ||= result === "reserved";
    }
    if (waits) this.deferred.add(podData.class.index);
    return false;
  }

  /** `#onClaim` for the planned claims of one rank, and for new ones of some pools. */
  #onClaimOf(rank: number, templates: readonly Template[], podData: PodData, pod: Pod): boolean | "reserved" {
    const cheapestClaim = this.#cheapestClaims[rank];
    if (!this.#isByAddedPrice || cheapestClaim === undefined) {
      const planned = this.#queue.first(podData, this.#isKarpenters ? undefined : rank);
      return planned === undefined ? this.#onNew(podData, pod, this.#newClaim(templates, podData)) : this.#join(planned, podData, pod);
    }
    let best = cheapestClaim.best(podData, () => this.#likelyPrice(templates, cheapestClaim, podData));
    if (best !== undefined && best.addedPrice < PRICE_TOLERANCE) return this.#join(best, podData, pod);
    const opened = this.#newClaim(templates, podData);
    const price = typeof opened === "object" ? costOf(opened) : Number.POSITIVE_INFINITY;
    if (price > cheapestClaim.limitOf(podData)) best = cheapestClaim.bestOfAll(podData);
    if (best !== undefined && best.addedPrice <= price + PRICE_TOLERANCE) return this.#join(best, podData, pod);
    return this.#onNew(podData, pod, opened);
  }

  /** An estimate of a new claim's price for the pod in some pools, USD per hour; Infinity without a claim. */
  #likelyPrice(templates: readonly Template[], cheapestClaim: CheapestClaim, podData: PodData): number {
    const [area] = podData.areas;
    const domains = area === undefined ? [] : cheapestClaim.domainsOf(area.key);
    return likelyPriceFor(podData, templates, domains, this.#maker);
  }

  /**
   * A new claim for the pod in one of some pools; in Karpenter's strategy, in the first that can make a node
   * (karpenter: pkg/controllers/provisioning/scheduling/scheduler.go, Scheduler.addToNewNodeClaim).
   */
  #newClaim(templates: readonly Template[], podData: PodData): ReturnType<typeof newClaimFor> {
    return newClaimFor(podData, templates, this.claims.length, this.#maker, this.#isKarpenters);
  }

  /** Adds a pod to a planned claim. */
  #join({ claim, outcome }: ClaimWithPod, podData: PodData, pod: Pod): true {
    this.#commit(claim, podData, pod, outcome);
    this.#queue.moved(claim);
    return true;
  }

  /** Adds a new claim with its first pod to the plan; without one, returns why. */
  #onNew(podData: PodData, pod: Pod, opened: ReturnType<typeof newClaimFor>): boolean | "reserved" {
    if (typeof opened !== "object") return opened ?? false;
    const { claim, outcome } = opened;
    this.claims.push(claim);
    this.#commit(claim, podData, pod, outcome);
    this.#queue.add(claim);
    return true;
  }

  /** Adds a pod to a claim, with all that is counted beside: reservations, limits, topology, prices. */
  #commit(claim: PlannedClaim, podData: PodData, pod: Pod, { set, price, reservations }: ClaimOutcome): void {
    if (reservations.length > 0 || claim.reservations.length > 0) this.#reservations.hold(claim, reservations);
    claim.price = price;
    claim.take(podData, pod, set, this.topology);
    this.#evaluation.settle(claim);
    if (this.#isByAddedPrice) this.#cheapestClaims[claim.template.rank]?.enter(claim);
    this.limits.settle(claim);
  }
}
