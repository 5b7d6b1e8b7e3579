import { HOSTNAME } from "../model/labels.ts";
import { type Bitset, hasBit, intersection, isEmpty, members } from "./bitset.ts";
import { takenPort } from "./host-ports.ts";
import type { Fit, Outcome, Refusal } from "./outcome.ts";
import type { PlannedClaim } from "./planned-claim.ts";
import type { Ask } from "./pod-class.ts";
import { only } from "./preferences.ts";
import type { RequirementSet } from "./requirement-sets.ts";
import type { Reservations } from "./reservations.ts";
import { hasRoom } from "./resource-axis.ts";
import { mixed } from "./strategy.ts";
import { untolerated } from "./taints.ts";
import type { Template } from "./template.ts";
import type { TopologyState } from "./topology-state.ts";
import type { World } from "./world.ts";

/** Answers whether a planned claim takes a pod, and what it becomes (scheduling.md §8). Remembers answers while they hold. */
export class Evaluation {
  readonly #world: World;
  readonly #topology: TopologyState;
  readonly #reservations: Reservations;
  readonly #seed: number;
  readonly #tolerated = new Map<number, boolean>();

  constructor(world: World, topology: TopologyState, reservations: Reservations, seed: number) {
    this.#world = world;
    this.#topology = topology;
    this.#reservations = reservations;
    this.#seed = seed;
  }

  #tolerates(template: Template, ask: Ask): boolean {
    const key = ask.id * this.#world.templates.length + template.index;
    const known = this.#tolerated.get(key);
    if (known !== undefined) return known;
    const answer = untolerated(template.taints, ask.tolerations) === undefined;
    this.#tolerated.set(key, answer);
    return answer;
  }

  /** What the claim would become, or why it does not take the pod. */
  evaluate(claim: PlannedClaim, ask: Ask): Outcome | Refusal {
    const known = claim.answers.get(ask.id);
    const sameClaim = known !== undefined && known.pods === claim.pods.length;
    const around = (ask.hasTopology ? this.#topology.version : 0) + this.#reservations.version;
    if (sameClaim && known.around === around) return known.answer;
    const base = sameClaim ? known.base : this.#fit(claim, ask);
    const answer = base === undefined ? "never" : this.#settleOn(claim, ask, base);
    claim.answers.set(ask.id, { pods: claim.pods.length, around, base, answer });
    return answer;
  }

  /** The least by which a claim grows dearer, whatever the rest of the plan says; undefined if it will never take the pod. */
  leastRise(claim: PlannedClaim, ask: Ask): number | undefined {
    const known = claim.answers.get(ask.id);
    const base = known !== undefined && known.pods === claim.pods.length ? known.base : this.#fit(claim, ask);
    if (base === undefined) return undefined;
    claim.answers.set(ask.id, { pods: claim.pods.length, around: -1, base, answer: "topology" });
    return this.cheapest(claim.template, base.set, base.types) - claim.price;
  }

  /** What of an answer depends on the claim alone: undefined when nothing will change its mind. */
  #fit(claim: PlannedClaim, ask: Ask): Fit | undefined {
    if (claim.isFullFor(ask.vector)) return undefined;
    for (const group of ask.deciding) {
      // Pods on a host only grow more: what is too many today always will be. Company may still come.
      if (group.key === HOSTNAME && group.kind !== "affinity" && !this.#topology.allows(group, ask, claim.hostname)) return undefined;
    }
    const known = claim.fits.get(ask.fitId);
    if (known !== undefined && known.pods === claim.pods.length) return known.fit;
    const fit = this.#ownFit(claim, ask);
    claim.fits.set(ask.fitId, { pods: claim.pods.length, fit });
    return fit;
  }

  #ownFit(claim: PlannedClaim, ask: Ask): Fit | undefined {
    const { template } = claim;
    if (!ask.acceptsNewHost || !this.#tolerates(template, ask)) return undefined;
    if (ask.class.ports.length > 0 && takenPort(ask.class.ports, claim.ports) !== undefined) return undefined;
    const set = this.#world.sets.join(claim.set, ask.set);
    const types = set && this.#fitting(claim, ask, set);
    return set && types && { set, types };
  }

  /** What depends on the rest of the plan: where other pods lie, and who holds which reservation. */
  #settleOn(claim: PlannedClaim, ask: Ask, { set: joined, types: fitting }: Fit): Outcome | Refusal {
    const { template } = claim;
    for (const group of ask.deciding) {
      if (group.key === HOSTNAME && !this.#topology.allows(group, ask, claim.hostname)) return "topology";
    }
    const starts = ask.volumeSets.length === 0 ? [joined] : ask.volumeSets.flatMap((set) => this.#world.sets.join(joined, set) ?? []);
    for (const start of starts) {
      const outcome = this.#narrow(claim, ask, start, fitting, 0);
      if (outcome === undefined) continue;
      const ids = template.table.reservations(outcome.set, outcome.types);
      const reservations = this.#reservations.reservable(claim, ids);
      const isStrict = this.#world.reservedMode === "strict" && reservations.length === 0;
      if (isStrict && (ids.length > 0 || claim.reservations.length > 0)) return "reserved";
      return { ...outcome, reservations };
    }
    return ask.hasTopology && starts.length > 0 ? "topology" : "never";
  }

  /** Follows the groups one after another, best domain first, back to the next best if no type is left. */
  #narrow(claim: PlannedClaim, ask: Ask, set: RequirementSet, types: Bitset, depth: number): Omit<Outcome, "reservations"> | undefined {
    const { table } = claim.template;
    const left = intersection(types, table.admitted(set));
    if (isEmpty(left)) return undefined;
    const group = ask.deciding[depth];
    if (group === undefined) return this.#withMinValues(claim, set, left);
    const narrowed = (domain: string): RequirementSet | undefined =>
      this.#world.sets.join(set, this.#world.sets.intern(new Map([[group.key, only(group.key, domain)]])));
    const rank = (domain: string): number => {
      if (this.#seed !== 0) return mixed(this.#seed, `${claim.index} ${domain}`);
      const there = narrowed(domain);
      return there === undefined
        ? Number.POSITIVE_INFINITY
        : this.cheapest(claim.template, there, intersection(left, table.admitted(there)));
    };
    const choices = this.#topology.choices(group, ask, set.requirements, claim.hostname, rank);
    if (choices === "any") return this.#narrow(claim, ask, set, left, depth + 1);
    for (const choice of choices) {
      const next = this.#world.sets.join(set, this.#world.sets.intern(new Map([[group.key, choice]])));
      const outcome = next && this.#narrow(claim, ask, next, left, depth + 1);
      if (outcome !== undefined) return outcome;
    }
    return undefined;
  }

  /** Price of an outcome; worked out once, as outcomes are remembered. */
  priceOf({ template }: PlannedClaim, outcome: Outcome): number {
    outcome.price ??= this.cheapest(template, outcome.set, outcome.types);
    return outcome.price;
  }

  /** USD per hour of the cheapest of some types under a set; Infinity if none is to be had. */
  cheapest(template: Template, set: RequirementSet, types: Bitset): number {
    const { order, byType } = template.table.prices(set);
    for (const t of order) if (hasBit(types, t)) return byType[t] ?? Number.POSITIVE_INFINITY;
    return Number.POSITIVE_INFINITY;
  }

  /** Types of the claim that agree with the set and have room for the pod beside those it has; undefined if none. */
  #fitting(claim: PlannedClaim, ask: Ask, set: RequirementSet): Bitset | undefined {
    const { template } = claim;
    const width = this.#world.axis.names.length;
    const left = intersection(claim.types, template.table.admitted(set));
    // The hottest loop of a solve: bit by bit, without a list of the members.
    let any = 0;
    for (let w = 0; w < left.length; w++) {
      let open = left[w] ?? 0;
      let kept = open;
      while (open !== 0) {
        const low = open & -open;
        open ^= low;
        const t = (w << 5) + 31 - Math.clz32(low);
        if (!hasRoom(template.room, t * width, claim.used, ask.vector)) kept ^= low;
      }
      left[w] = kept;
      any |= kept;
    }
    if (ask.class.ports.length > 0) any = this.#dropPortClashes(template, ask, left);
    return any === 0 ? undefined : left;
  }

  /** Most room by resource that any of the types has: what a claim can never go beyond. */
  ceiling(template: Template, types: Bitset): Float64Array {
    const width = this.#world.axis.names.length;
    const most = new Float64Array(width);
    for (const t of members(types)) {
      for (let r = 0; r < width; r++) most[r] = Math.max(most[r] ?? 0, template.room[t * width + r] ?? 0);
    }
    return most;
  }

  /** Takes out types whose daemons hold a port of the pod; what is left, or 0. */
  #dropPortClashes(template: Template, ask: Ask, types: Bitset): number {
    for (const t of members(types)) {
      const ports = template.daemonGroups[template.daemonGroupOf[t] ?? 0]?.ports ?? [];
      if (takenPort(ask.class.ports, ports) !== undefined) types[t >>> 5] = (types[t >>> 5] ?? 0) & ~(1 << (t & 31));
    }
    return isEmpty(types) ? 0 : 1;
  }

  #withMinValues(claim: PlannedClaim, set: RequirementSet, types: Bitset): Omit<Outcome, "reservations"> | undefined {
    const { template } = claim;
    for (const { key, least } of template.minValues) {
      const values = new Set<string>();
      for (const t of members(types)) for (const value of template.table.valuesOf(t, key)) values.add(value);
      if (values.size >= least || claim.minValuesRelaxed) continue;
      if (this.#world.minValuesPolicy === "Strict" || claim.pods.length > 0) return undefined;
      claim.minValuesRelaxed = true;
    }
    return { set, types };
  }
}
