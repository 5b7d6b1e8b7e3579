import { untolerated } from "../../pods/taints.ts";
import { keepsFree, openTypes } from "../problem/open-types.ts";
import type { Ask } from "../problem/pod-class.ts";
import type { World } from "../problem/problem.ts";
import { mixed } from "../problem/strategy.ts";
import type { Template } from "../problem/template.ts";
import type { TopologyState } from "../problem/topology-state.ts";
import { takenPort } from "../rules/host-ports.ts";
import { type Bitset, hasBit, members } from "../tables/bitset.ts";
import type { RequirementSet } from "../tables/requirement-sets.ts";
import { hasRoom } from "../tables/resource-axis.ts";
import type { Outcome, Refusal } from "./outcome.ts";
import type { PlannedClaim } from "./planned-claim.ts";
import type { Reservations } from "./reservations.ts";

const NO_RESERVATIONS: readonly string[] = [];

/** Answers whether a planned claim takes a pod, and what it becomes (scheduling.md §8). */
export class Evaluation {
  readonly #world: World;
  readonly #topology: TopologyState;
  readonly #reservations: Reservations;
  readonly #seed: number;
  readonly #tolerated: (boolean | undefined)[] = [];
  /** What the claim in question would hold with the pod; one for all questions, as they come one at a time. */
  readonly #need: Float64Array;

  constructor(world: World, topology: TopologyState, reservations: Reservations, seed: number) {
    this.#world = world;
    this.#topology = topology;
    this.#reservations = reservations;
    this.#seed = seed;
    this.#need = new Float64Array(world.axis.names.length);
  }

  #tolerates(template: Template, ask: Ask): boolean {
    const key = ask.fitId * this.#world.templates.length + template.index;
    const known = this.#tolerated[key];
    if (known !== undefined) return known;
    const answer = untolerated(template.taints, ask.tolerations) === undefined;
    this.#tolerated[key] = answer;
    return answer;
  }

  /** What the claim would become, or why it does not take the pod. */
  evaluate(claim: PlannedClaim, ask: Ask): Outcome | Refusal {
    const joined = this.#joined(claim, ask);
    if (joined === undefined) return "never";
    this.#add(claim, ask);
    if (ask.hasTopology || ask.volumeSets.length > 0) {
      if (this.#cheapest(claim, ask, joined) === Number.POSITIVE_INFINITY) return "never";
      for (const group of ask.hosts) if (!this.#topology.allows(group, ask, claim.hostname)) return "topology";
    }
    const starts = ask.volumeSets.length === 0 ? [joined] : ask.volumeSets.flatMap((set) => this.#world.sets.join(joined, set) ?? []);
    for (const start of starts) {
      const found = this.#narrow(claim, ask, start, 0);
      if (found !== undefined) return claim.template.table.hasReserved ? this.#reserving(claim, ask, found) : found;
    }
    return ask.hasTopology && starts.length > 0 ? "topology" : "never";
  }

  /**
   * The least by which a claim grows dearer, whatever hosts and the rest of the plan say; undefined if it will never take the pod. With a domain:
   * when the pod's first area is narrowed to it.
   */
  leastRise(claim: PlannedClaim, ask: Ask, domain?: string): number | undefined {
    const joined = this.#agreed(claim, ask);
    const [area] = ask.areas;
    const { sets } = this.#world;
    const there = joined && area && domain !== undefined ? sets.join(joined, sets.oneOf(area.key, [domain])) : joined;
    if (there === undefined) return undefined;
    this.#add(claim, ask);
    const price = this.#cheapest(claim, ask, there);
    return price === Number.POSITIVE_INFINITY ? undefined : price - claim.price;
  }

  /** The claim's requirements with the ask's, or undefined when they will never agree. */
  #joined(claim: PlannedClaim, ask: Ask): RequirementSet | undefined {
    return this.keepsHost(claim, ask) ? this.#agreed(claim, ask) : undefined;
  }

  /** False when the claim's host will never do. */
  keepsHost(claim: PlannedClaim, ask: Ask): boolean {
    for (const group of ask.hosts) {
      // Pods on a host only grow more: what is too many today always will be. Company may still come.
      if (group.kind !== "affinity" && !this.#topology.allows(group, ask, claim.hostname)) return false;
    }
    return true;
  }

  #agreed(claim: PlannedClaim, ask: Ask): RequirementSet | undefined {
    if (!ask.acceptsNewHost || !this.#tolerates(claim.template, ask)) return undefined;
    if (ask.class.ports.length > 0 && takenPort(ask.class.ports, claim.ports) !== undefined) return undefined;
    return this.#world.sets.join(claim.set, ask.set);
  }

  #add({ used }: PlannedClaim, { vector }: Ask): void {
    const need = this.#need;
    for (let r = 0; r < need.length; r++) need[r] = (used[r] ?? 0) + (vector[r] ?? 0);
  }

  /** Holds what a claim would become against the reservations that are left. */
  #reserving(claim: PlannedClaim, ask: Ask, found: Outcome): Outcome | Refusal {
    const ids = claim.template.table.reservations(found.set, this.#types(claim, ask, found.set));
    const reservations = this.#reservations.reservable(claim, ids);
    const isStrict = this.#world.reservedMode === "strict" && reservations.length === 0;
    return isStrict && (ids.length > 0 || claim.reservations.length > 0) ? "reserved" : { ...found, reservations };
  }

  /** Follows the groups one after another, best domain first, back to the next best if no type is left. */
  #narrow(claim: PlannedClaim, ask: Ask, set: RequirementSet, depth: number): Outcome | undefined {
    const price = this.#cheapest(claim, ask, set);
    if (price === Number.POSITIVE_INFINITY) return undefined;
    const group = ask.areas[depth];
    if (group === undefined) return this.#hasMinValues(claim, ask, set) ? { set, price, reservations: NO_RESERVATIONS } : undefined;
    const { sets } = this.#world;
    const rank = (domain: string): number => {
      if (this.#seed !== 0) return mixed(this.#seed, `${claim.index} ${domain}`);
      const there = sets.join(set, sets.oneOf(group.key, [domain]));
      return there === undefined ? Number.POSITIVE_INFINITY : this.#cheapest(claim, ask, there);
    };
    const choices = this.#topology.choices(group, ask, set.requirements, claim.hostname, rank);
    if (choices === "any") return this.#narrow(claim, ask, set, depth + 1);
    for (const choice of choices) {
      const next = sets.join(set, sets.oneOf(group.key, choice));
      const outcome = next && this.#narrow(claim, ask, next, depth + 1);
      if (outcome !== undefined) return outcome;
    }
    return undefined;
  }

  /** USD per hour of the cheapest type that agrees with the set and has room for what is needed; Infinity without one. */
  #cheapest(claim: PlannedClaim, ask: Ask, set: RequirementSet): number {
    const { template } = claim;
    if (claim.base !== template.types || (template.hasDaemonPorts && claim.ports.length + ask.class.ports.length > 0)) {
      return this.#cheapestOf(claim, ask, set);
    }
    const frontier = template.frontier(set);
    const place = frontier.first(this.#need, claim.frontier === frontier ? claim.place : 0);
    return place < 0 ? Number.POSITIVE_INFINITY : frontier.priceAt(place);
  }

  /** The long way, type by type: limits or ports of daemons rule some types out. */
  #cheapestOf({ template, base, ports }: PlannedClaim, ask: Ask, set: RequirementSet): number {
    const admitted = template.table.admitted(set);
    const { order, byType } = template.table.prices(set);
    const taken = [...ports, ...ask.class.ports];
    for (const t of order) {
      if (!hasBit(base, t) || !hasBit(admitted, t) || !keepsFree(template, t, taken)) continue;
      if (hasRoom(template.room, t * this.#need.length, this.#need)) return byType[t] ?? Number.POSITIVE_INFINITY;
    }
    return Number.POSITIVE_INFINITY;
  }

  /** Types that the claim could still become with the pod. */
  #types({ template, base, ports }: PlannedClaim, ask: Ask, set: RequirementSet): Bitset {
    return openTypes(template, base, set, this.#need, [...ports, ...ask.class.ports]);
  }

  #hasMinValues(claim: PlannedClaim, ask: Ask, set: RequirementSet): boolean {
    const { template } = claim;
    if (template.minValues.length === 0) return true;
    const types = members(this.#types(claim, ask, set));
    for (const { key, least } of template.minValues) {
      const values = new Set<string>();
      for (const t of types) for (const value of template.table.valuesOf(t, key)) values.add(value);
      if (values.size >= least || claim.minValuesRelaxed) continue;
      if (this.#world.minValuesPolicy === "Strict" || claim.pods.length > 0) return false;
      claim.minValuesRelaxed = true;
    }
    return true;
  }

  /** Notes on a claim that took a pod where its cheapest type stands. */
  settle(claim: PlannedClaim): void {
    const { template } = claim;
    if (claim.base !== template.types || (template.hasDaemonPorts && claim.ports.length > 0)) {
      claim.frontier = undefined;
      return;
    }
    const frontier = template.frontier(claim.set);
    claim.place = Math.max(0, frontier.first(claim.used, claim.frontier === frontier ? claim.place : 0));
    claim.frontier = frontier;
  }
}
