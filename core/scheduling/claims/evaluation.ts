import { hashedNumber } from "../../lib/pseudo-random.ts";
import { untolerated } from "../../pods/taints.ts";
import type { RankedType } from "../problem/node-costs.ts";
import { keepsFree, openTypes } from "../problem/open-types.ts";
import type { PodData } from "../problem/pod-class.ts";
import type { SchedulingProblem } from "../problem/problem.ts";
import type { Template } from "../problem/template.ts";
import type { TopologyState } from "../problem/topology-state.ts";
import { type HostPort, takenPort } from "../rules/host-ports.ts";
import { type Bitset, hasBit, intersection, members, overlap } from "../tables/bitset.ts";
import type { Frontier } from "../tables/frontier.ts";
import type { RequirementSet } from "../tables/requirement-sets.ts";
import { hasRoom } from "../tables/resource-axis.ts";
import type { Limits } from "./limits.ts";
import { allowedValues } from "./min-values.ts";
import type { ClaimOutcome, Refusal } from "./outcome.ts";
import type { PlannedClaim } from "./planned-claim.ts";
import type { Reservations } from "./reservations.ts";

/** Steps of one comparison of a pod with a claim, without those of a requirement set that it makes. */
const STEPS_OF_EVALUATION = 10;

const NO_RESERVATIONS: readonly string[] = [];

/**
 * Decides whether a planned claim takes a pod, and what the claim becomes with it: taints, host ports, requirements,
 * volumes, topology, instance types, minValues, reservations
 * (karpenter: pkg/controllers/provisioning/scheduling/nodeclaim.go, NodeClaim.CanAdd).
 */
export class Evaluation {
  readonly #problem: SchedulingProblem;
  readonly #topology: TopologyState;
  readonly #reservations: Reservations;
  readonly #limits: Limits;
  readonly #seed: number;
  readonly #tolerated: (boolean | undefined)[] = [];
  /**
   * Requests of the evaluated claim with the pod, in milli-units. One buffer for all evaluations, which run one at a
   * time.
   */
  readonly #need: Float64Array;
  /** Steps that may be taken before `isSpent`. */
  readonly #maxSteps: number;
  /** Steps of the run's requirement sets when this began. */
  readonly #stepsBefore: number;
  #steps = 0;

  constructor(
    problem: SchedulingProblem,
    topology: TopologyState,
    reservations: Reservations,
    limits: Limits,
    seed: number,
    maxSteps = Number.POSITIVE_INFINITY,
  ) {
    this.#problem = problem;
    this.#topology = topology;
    this.#reservations = reservations;
    this.#limits = limits;
    this.#seed = seed;
    this.#need = new Float64Array(problem.axis.names.length);
    this.#maxSteps = maxSteps;
    this.#stepsBefore = problem.sets.steps;
  }

  /**
   * Steps taken so far: an estimate of the work, of about 0.1 µs each, that is the same on every machine.
   */
  get steps(): number {
    return this.#steps + this.#problem.sets.steps - this.#stepsBefore;
  }

  /** Whether the attempt has taken its steps: what is left is then placed with as few comparisons as possible. */
  get isSpent(): boolean {
    return this.steps > this.#maxSteps;
  }

  #tolerates(template: Template, podData: PodData): boolean {
    const key = podData.fitKey * this.#problem.templates.length + template.index;
    const known = this.#tolerated[key];
    if (known !== undefined) return known;
    const answer = untolerated(template.taints, podData.tolerations) === undefined;
    this.#tolerated[key] = answer;
    return answer;
  }

  /**
   * What the claim would become, or why it refuses the pod. Changes nothing but `minValuesRelaxed` of an empty claim.
   */
  evaluate(claim: PlannedClaim, podData: PodData): ClaimOutcome | Refusal {
    this.#steps += STEPS_OF_EVALUATION;
    const joined = this.#joined(claim, podData);
    if (joined === undefined) return "never";
    this.#add(claim, podData);
    if (podData.hasTopology || podData.volumeSets.length > 0) {
      if (this.#cheapest(claim, podData, joined) === Number.POSITIVE_INFINITY) return "never";
      for (const group of podData.hosts) if (!this.#topology.allows(group, podData, claim.hostname)) return "topology";
    }
    const starts =
      podData.volumeSets.length === 0 ? [joined] : podData.volumeSets.flatMap((set) => this.#problem.sets.join(joined, set) ?? []);
    for (const start of starts) {
      const found = this.#narrow(claim, podData, start, 0);
      if (found !== undefined) return claim.template.table.hasReserved ? this.#reserving(claim, podData, found) : found;
    }
    return podData.hasTopology && starts.length > 0 ? "topology" : "never";
  }

  /**
   * A lower bound of the price that a pod adds to a claim, USD per hour, which ignores hosts and other pods; undefined
   * if the claim will never take the pod. With a domain: when the claim is narrowed to that domain of the pod's first
   * topology key.
   */
  leastAddedPrice(claim: PlannedClaim, podData: PodData, domain?: string): number | undefined {
    this.#steps += STEPS_OF_EVALUATION;
    const joined = this.#agreed(claim, podData);
    const [area] = podData.areas;
    const { sets } = this.#problem;
    const there = joined && area && domain !== undefined ? sets.join(joined, sets.oneOf(area.key, [domain])) : joined;
    if (there === undefined) return undefined;
    this.#add(claim, podData);
    const price = this.#cheapest(claim, podData, there);
    return price === Number.POSITIVE_INFINITY ? undefined : price - claim.price;
  }

  /**
   * A lower bound of `leastAddedPrice` that is found without joining requirements: that of the types which the claim
   * allows now. Infinity when none has room; undefined when it is not known.
   */
  roughAddedPrice(claim: PlannedClaim, podData: PodData): number | undefined {
    if (claim.frontier === undefined) return undefined;
    this.#steps++;
    this.#add(claim, podData);
    const place = claim.frontier.first(this.#need, claim.place);
    return place < 0 ? Number.POSITIVE_INFINITY : claim.frontier.priceAt(place) - claim.price;
  }

  /**
   * A lower bound of `leastAddedPrice` between it and `roughAddedPrice`: that of the types which both the claim and the
   * pod allow. Undefined when none has room.
   */
  addedPriceByTypes(claim: PlannedClaim, podData: PodData): number | undefined {
    this.#steps += STEPS_OF_EVALUATION;
    const { table, room, cpu } = claim.template;
    const ours = table.admitted(claim.set);
    const theirs = table.admitted(podData.set);
    if (!overlap(ours, theirs)) return undefined;
    this.#add(claim, podData);
    const need = this.#need;
    const ranked = claim.template.ranked(claim.set);
    for (let i = firstFrom(ranked, claim.price); i < ranked.length; i++) {
      const { type: t, price, maxCpu } = ranked[i] as RankedType;
      if ((need[cpu] ?? 0) > maxCpu || !hasBit(theirs, t) || !hasBit(ours, t)) continue;
      if (hasRoom(room, t * need.length, need)) return price - claim.price;
    }
    return undefined;
  }

  /** The claim's requirements joined with the pod's, or undefined when the claim will never take the pod. */
  #joined(claim: PlannedClaim, podData: PodData): RequirementSet | undefined {
    return this.keepsHost(claim, podData) ? this.#agreed(claim, podData) : undefined;
  }

  /** False when the claim's host will never suit the pod. */
  keepsHost(claim: PlannedClaim, podData: PodData): boolean {
    for (const group of podData.hosts) {
      // A host only gains pods: too many stay too many. Pods that this one has affinity for may still be added.
      if (group.kind !== "affinity" && !this.#topology.allows(group, podData, claim.hostname)) return false;
    }
    return true;
  }

  /** `#joined` without the rules about hosts. */
  #agreed(claim: PlannedClaim, podData: PodData): RequirementSet | undefined {
    if (!podData.acceptsNewHost || !this.#tolerates(claim.template, podData)) return undefined;
    if (podData.class.ports.length > 0 && takenPort(podData.class.ports, claim.ports) !== undefined) return undefined;
    return this.#problem.sets.join(claim.set, podData.set);
  }

  /** Sets `#need`. */
  #add({ used }: PlannedClaim, { vector }: PodData): void {
    const need = this.#need;
    for (let r = 0; r < need.length; r++) need[r] = (used[r] ?? 0) + (vector[r] ?? 0);
  }

  /** Adds the reservations that the claim would hold; "reserved" when strict mode has to defer the pod. */
  #reserving(claim: PlannedClaim, podData: PodData, found: ClaimOutcome): ClaimOutcome | Refusal {
    const { table } = claim.template;
    const ids = table.reservations(found.set, this.#types(claim, podData, found.set, table.reservedTypes));
    const reservations = this.#reservations.reservable(claim, ids);
    const isStrict = this.#problem.reservedMode === "strict" && reservations.length === 0;
    return isStrict && (ids.length > 0 || claim.reservations.length > 0) ? "reserved" : { ...found, reservations };
  }

  /**
   * Narrows the claim by one topology group after another, best domain first; backtracks when no instance type is left.
   */
  #narrow(claim: PlannedClaim, podData: PodData, set: RequirementSet, depth: number): ClaimOutcome | undefined {
    const price = this.#cheapest(claim, podData, set);
    if (price === Number.POSITIVE_INFINITY) return undefined;
    const group = podData.areas[depth];
    if (group === undefined) return this.#hasMinValues(claim, podData, set) ? { set, price, reservations: NO_RESERVATIONS } : undefined;
    const { sets } = this.#problem;
    const rankOf = (domain: string): number => {
      if (this.#seed !== 0) return hashedNumber(this.#seed, this.#seed < 0 ? domain : `${claim.index} ${domain}`);
      const there = sets.join(set, sets.oneOf(group.key, [domain]));
      return there === undefined ? Number.POSITIVE_INFINITY : this.#cheapest(claim, podData, there);
    };
    const choices = this.#topology.choices(group, podData, set.requirements, claim.hostname, rankOf);
    if (choices === "any") return this.#narrow(claim, podData, set, depth + 1);
    for (const domains of choices) {
      const next = sets.join(set, sets.oneOf(group.key, domains));
      const outcome = next && this.#narrow(claim, podData, next, depth + 1);
      if (outcome !== undefined) return outcome;
    }
    return undefined;
  }

  /** USD per hour of the cheapest type that the claim could be with the pod under a set; Infinity without one. */
  #cheapest(claim: PlannedClaim, podData: PodData, set: RequirementSet): number {
    const { ports } = podData.class;
    const taken = ports.length === 0 ? claim.ports : [...claim.ports, ...ports];
    const frontier = this.#frontierOf(claim, taken, set);
    if (frontier !== undefined) {
      const place = frontier.first(this.#need, claim.frontier === frontier ? claim.place : 0);
      if (place < 0) return Number.POSITIVE_INFINITY;
      if (this.#limits.allows(claim, frontier.typeAt(place))) return frontier.priceAt(place);
    }
    return this.#cheapestOf(claim, this.#need, taken, set)?.price ?? Number.POSITIVE_INFINITY;
  }

  /**
   * The cheapest type that agrees with a set, has room for `need` and is within the limits; undefined without one. Read
   * type by type, because the frontier leaves out smaller types that are no cheaper.
   */
  #cheapestOf(claim: PlannedClaim, need: Float64Array, ports: readonly HostPort[], set: RequirementSet): RankedType | undefined {
    const { template, base } = claim;
    const admitted = template.table.admitted(set);
    const cpu = need[template.cpu] ?? 0;
    return template.ranked(set).find(({ type: t, maxCpu }) => {
      if (cpu > maxCpu || !hasBit(base, t) || !hasBit(admitted, t) || !keepsFree(template, t, ports)) return false;
      return hasRoom(template.room, t * need.length, need) && this.#limits.allows(claim, t);
    });
  }

  /** Types of `within` that the claim could still be launched as with the pod. */
  #types({ template, base, ports }: PlannedClaim, podData: PodData, set: RequirementSet, within?: Bitset): Bitset {
    return openTypes(template, within ? intersection(base, within) : base, set, this.#need, [...ports, ...podData.class.ports]);
  }

  /**
   * Whether enough types are left for minValues. Policy BestEffort marks a new claim as relaxed instead of refusing the
   * pod.
   */
  #hasMinValues(claim: PlannedClaim, podData: PodData, set: RequirementSet): boolean {
    const { template } = claim;
    if (template.minValues.length === 0) return true;
    const types = members(this.#types(claim, podData, set)).filter((t) => this.#limits.allows(claim, t));
    for (const { key, min } of template.minValues) {
      const values = new Set<string>();
      for (const t of types) for (const value of allowedValues(template, t, key, set)) values.add(value);
      if (values.size >= min || claim.minValuesRelaxed) continue;
      if (this.#problem.minValuesPolicy === "Strict" || claim.pods.length > 0) return false;
      claim.minValuesRelaxed = true;
    }
    return true;
  }

  /**
   * Remembers on a claim that took a pod its cheapest type and price, and the place of that type on the frontier, where
   * the next search starts.
   */
  settle(claim: PlannedClaim): void {
    const { set, used, ports } = claim;
    const frontier = this.#frontierOf(claim, ports, set);
    const place = frontier === undefined ? -1 : frontier.first(used, claim.frontier === frontier ? claim.place : 0);
    const type = frontier === undefined ? -1 : frontier.typeAt(place);
    const isOnFrontier = type >= 0 && this.#limits.allows(claim, type);
    const cheapest = isOnFrontier ? { type, price: frontier?.priceAt(place) } : this.#cheapestOf(claim, used, ports, set);
    claim.cheapest = cheapest?.type ?? -1;
    claim.price = cheapest?.price ?? claim.price;
    claim.frontier = isOnFrontier ? frontier : undefined;
    claim.place = isOnFrontier ? place : 0;
  }

  /** The frontier of a claim's types under a set; undefined when host ports of DaemonSets or limits restrict them. */
  #frontierOf({ template, base }: PlannedClaim, ports: readonly HostPort[], set: RequirementSet): Frontier | undefined {
    return base !== template.types || (template.hasDaemonPorts && ports.length > 0) ? undefined : template.frontier(set);
  }
}

/** Index of the first type, by rising prices, that costs at least `price`. */
function firstFrom(ranked: readonly RankedType[], price: number): number {
  let [low, high] = [0, ranked.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranked[middle]?.price ?? 0) < price) low = middle + 1;
    else high = middle;
  }
  return low;
}
