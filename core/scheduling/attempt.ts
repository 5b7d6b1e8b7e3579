import { HOSTNAME } from "../model/labels.ts";
import type { Pod } from "../model/pod.ts";
import { type Bitset, hasBit, intersection, isEmpty, members } from "./bitset.ts";
import { NodeState } from "./existing-node.ts";
import { takenPort } from "./host-ports.ts";
import type { Fit, Outcome, Refusal } from "./outcome.ts";
import { PlannedClaim } from "./planned-claim.ts";
import type { Ask } from "./pod-class.ts";
import { only } from "./preferences.ts";
import type { RequirementSet } from "./requirement-sets.ts";
import { Reservations } from "./reservations.ts";
import { hasRoom } from "./resource-axis.ts";
import { untolerated } from "./taints.ts";
import { largest, type Template } from "./template.ts";
import { filterAdmitsNode } from "./topology-group.ts";
import { TopologyState } from "./topology-state.ts";
import type { World } from "./world.ts";

/** How one attempt decides where several ways are open. Any strategy gives a valid plan; they differ in price. */
export interface Strategy {
  /**
   * Among planned claims: the one with the fewest pods (Karpenter's way, which packs evenly), the oldest (first fit), or the one that
   * grows dearer by least, a new claim included ("least-rise").
   */
  readonly claims: "fewest-pods" | "oldest" | "least-rise";
  /** Class indexes in the order in which they are placed; that of the queue unless given. */
  readonly classes?: readonly number[];
  /** Breaks ties between domains: 0 takes the cheapest, other seeds mix them up. */
  readonly seed: number;
}

const REFUSED = 1;

/**
 * What a node costs beside its instance, USD per hour: its root volume (20 GiB of gp3 at $0.08 a GiB-month). Without it two small nodes
 * would look as good as one large one at the same price.
 */
export const NODE_HOUR = 0.0022;

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
  readonly #none: Float64Array;
  readonly #nodeRefusals: (Uint8Array | undefined)[] = [];
  readonly #claimRefusals: (Uint8Array | undefined)[] = [];
  /** Ask without topology that fitted nowhere: number of claims that there were. */
  readonly #failedAt: number[] = [];
  readonly #tolerated = new Map<number, boolean>();
  readonly #reservations: Reservations;
  /** Classes whose pods wait for the next run, since reservations that suit them were taken in this one. */
  readonly deferred = new Set<number>();
  /** What limits leave, by template; changes as claims are planned. */
  readonly remaining: (Record<string, number> | undefined)[];

  constructor(world: World, strategy: Strategy) {
    this.world = world;
    this.#strategy = strategy;
    this.nodes = world.nodes.map((node) => new NodeState(node));
    this.topology = new TopologyState(world.groups);
    this.#none = new Float64Array(world.axis.names.length);
    this.#reservations = new Reservations(world.reservations);
    this.remaining = world.templates.map(({ remaining }) => (remaining === undefined ? undefined : { ...remaining }));
  }

  /** Places pods class by class, and goes round again while some could be placed: a pod may have waited for its companion. */
  run(): this {
    const { classes } = this.world;
    const order = this.#strategy.classes?.flatMap((index) => classes[index] ?? []) ?? classes;
    const next = classes.map(() => 0);
    for (let progress = true; progress; ) {
      progress = false;
      for (const { index, pods } of order) {
        let at = next[index] ?? 0;
        for (let pod = pods[at]; pod !== undefined && this.#placeOne(index, pod); pod = pods[at]) {
          at++;
          progress = true;
        }
        next[index] = at;
      }
    }
    for (const { index, pods } of classes) {
      const left = pods.slice(next[index] ?? 0);
      if (left.length > 0) this.failed.set(index, left);
    }
    return this;
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
    for (let i = 0; i < this.nodes.length; i++) {
      if (refusals[i] === REFUSED) continue;
      const state = this.nodes[i];
      if (state === undefined) continue;
      if (!state.accepts(ask, this.#none)) {
        refusals[i] = REFUSED;
        continue;
      }
      if (!state.attaches(ask, pod)) continue;
      const { labels, taints, hostname } = state.node.view;
      const domainOf = (key: string): string | undefined => (key === HOSTNAME ? hostname : labels[key]);
      if (!ask.deciding.every((group) => this.topology.allows(group, ask, domainOf(group.key)))) continue;
      state.take(ask, pod);
      for (const group of ask.counting) {
        const domain = domainOf(group.key);
        if (domain !== undefined && countsOnNode(group, labels, taints)) this.topology.add(group, domain, 1);
      }
      return true;
    }
    return false;
  }

  #onClaim(ask: Ask, pod: Pod): boolean {
    if (this.#strategy.claims !== "least-rise") return this.#onPlanned(ask, pod) || this.#onNew(ask, pod, this.#newClaim(ask));
    const refusals = this.#refusalsOf(ask);
    let best: { at: number; outcome: Outcome; rise: number } | undefined;
    for (let at = 0; at < this.#queue.length; at++) {
      const claim = this.#queue[at];
      if (claim === undefined || refusals[claim.index] === REFUSED) continue;
      const outcome = this.#evaluate(claim, ask);
      if (outcome === "never") refusals[claim.index] = REFUSED;
      else if (typeof outcome === "object") {
        const rise = this.#priceOf(claim, outcome) - claim.price;
        if (best === undefined || rise < best.rise - 1e-9) best = { at, outcome, rise };
        if (rise < 1e-9) break;
      }
    }
    if (best !== undefined && best.rise < 1e-9) return this.#join(best.at, ask, pod, best.outcome);
    const fresh = this.#newClaim(ask);
    const price =
      fresh === undefined
        ? Number.POSITIVE_INFINITY
        : NODE_HOUR + this.cheapest(fresh.claim.template, fresh.outcome.set, fresh.outcome.types);
    if (best !== undefined && best.rise <= price + 1e-9) return this.#join(best.at, ask, pod, best.outcome);
    return this.#onNew(ask, pod, fresh);
  }

  #refusalsOf(ask: Ask): Uint8Array {
    let refusals = this.#claimRefusals[ask.id];
    if (refusals === undefined || refusals.length < this.claims.length) {
      const grown = new Uint8Array(Math.max(64, this.claims.length * 2));
      if (refusals !== undefined) grown.set(refusals);
      refusals = grown;
      this.#claimRefusals[ask.id] = grown;
    }
    return refusals;
  }

  #onPlanned(ask: Ask, pod: Pod): boolean {
    const refusals = this.#refusalsOf(ask);
    for (let at = 0; at < this.#queue.length; at++) {
      const claim = this.#queue[at];
      if (claim === undefined || refusals[claim.index] === REFUSED) continue;
      const outcome = this.#evaluate(claim, ask);
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
      const types = this.#typesWithinLimits(template);
      if (isEmpty(types)) continue;
      const claim = new PlannedClaim(this.claims.length, template, types, this.world.axis.names.length);
      const outcome = this.#evaluate(claim, ask);
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
    this.#charge(claim.template, outcome.types, 1);
    claim.types = outcome.types;
    this.#commit(claim, ask, pod, outcome);
    this.#settle(this.#queue.length - 1);
    return true;
  }

  #commit(claim: PlannedClaim, ask: Ask, pod: Pod, outcome: Outcome): void {
    const { set, types, reservations } = outcome;
    if (reservations.length > 0 || claim.reservations.length > 0) this.#reservations.hold(claim, reservations);
    if (this.remaining[claim.template.index] !== undefined && types !== claim.types) {
      // A claim is charged for the largest type that it may still become.
      this.#charge(claim.template, claim.types, -1);
      this.#charge(claim.template, types, 1);
    }
    claim.price = this.#priceOf(claim, outcome);
    if (types !== claim.types || claim.ceiling === undefined) claim.ceiling = this.#ceiling(claim.template, types);
    claim.take(ask, pod, set, types, this.topology);
  }

  #charge(template: Template, types: Bitset, sign: 1 | -1): void {
    const rest = this.remaining[template.index];
    if (rest === undefined) return;
    const most = largest(template.table, types, Object.keys(rest));
    for (const name in rest) rest[name] = (rest[name] ?? 0) - sign * (name === "nodes" ? 1000 : (most[name] ?? 0));
  }

  #typesWithinLimits(template: Template): Bitset {
    const rest = this.remaining[template.index];
    if (rest === undefined) return template.types;
    const within = Uint32Array.from(template.types);
    if ((rest["nodes"] ?? 1000) < 1000) return within.fill(0);
    for (const t of members(template.types)) {
      const capacity = template.table.capacity[t] ?? {};
      for (const name in rest) {
        if (name !== "nodes" && (capacity[name] ?? 0) > (rest[name] ?? 0)) within[t >>> 5] = (within[t >>> 5] ?? 0) & ~(1 << (t & 31));
      }
    }
    return within;
  }

  /** Keeps the queue in order after its claim at `at` took a pod. */
  #settle(at: number): void {
    if (this.#strategy.claims === "oldest") return;
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

  #tolerates(template: Template, ask: Ask): boolean {
    const key = ask.id * this.world.templates.length + template.index;
    const known = this.#tolerated.get(key);
    if (known !== undefined) return known;
    const answer = untolerated(template.taints, ask.tolerations) === undefined;
    this.#tolerated.set(key, answer);
    return answer;
  }

  /** What the claim would become, or why it does not take the pod. */
  #evaluate(claim: PlannedClaim, ask: Ask): Outcome | Refusal {
    const known = claim.answers.get(ask.id);
    const sameClaim = known !== undefined && known.pods === claim.pods.length;
    const around = (ask.hasTopology ? this.topology.version : 0) + this.#reservations.version;
    if (sameClaim && known.around === around) return known.answer;
    const base = sameClaim ? known.base : this.#fit(claim, ask);
    const answer = base === undefined ? "never" : this.#settleOn(claim, ask, base);
    claim.answers.set(ask.id, { pods: claim.pods.length, around, base, answer });
    return answer;
  }

  /** What of an answer depends on the claim alone: undefined when nothing will change its mind. */
  #fit(claim: PlannedClaim, ask: Ask): Fit | undefined {
    const { template } = claim;
    if (claim.isFullFor(ask.vector)) return undefined;
    if (!ask.acceptsNewHost || !this.#tolerates(template, ask)) return undefined;
    if (ask.class.ports.length > 0 && takenPort(ask.class.ports, claim.ports) !== undefined) return undefined;
    const set = this.world.sets.join(claim.set, ask.set);
    const types = set && this.#fitting(claim, ask, set);
    return set && types && { set, types };
  }

  /** What depends on the rest of the plan: where other pods lie, and who holds which reservation. */
  #settleOn(claim: PlannedClaim, ask: Ask, { set: joined, types: fitting }: Fit): Outcome | Refusal {
    const { template } = claim;
    for (const group of ask.deciding) {
      if (group.key === HOSTNAME && !this.topology.allows(group, ask, claim.hostname)) return "topology";
    }
    const starts = ask.volumeSets.length === 0 ? [joined] : ask.volumeSets.flatMap((set) => this.world.sets.join(joined, set) ?? []);
    for (const start of starts) {
      const outcome = this.#narrow(claim, ask, start, fitting, 0);
      if (outcome === undefined) continue;
      const ids = template.table.reservations(outcome.set, outcome.types);
      const reservations = this.#reservations.reservable(claim, ids);
      const isStrict = this.world.reservedMode === "strict" && reservations.length === 0;
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
      this.world.sets.join(set, this.world.sets.intern(new Map([[group.key, only(group.key, domain)]])));
    const { seed } = this.#strategy;
    const rank = (domain: string): number => {
      if (seed !== 0) return mixed(seed, `${claim.index} ${domain}`);
      const there = narrowed(domain);
      return there === undefined
        ? Number.POSITIVE_INFINITY
        : this.cheapest(claim.template, there, intersection(left, table.admitted(there)));
    };
    const choices = this.topology.choices(group, ask, set.requirements, claim.hostname, rank);
    if (choices === "any") return this.#narrow(claim, ask, set, left, depth + 1);
    for (const choice of choices) {
      const next = this.world.sets.join(set, this.world.sets.intern(new Map([[group.key, choice]])));
      const outcome = next && this.#narrow(claim, ask, next, left, depth + 1);
      if (outcome !== undefined) return outcome;
    }
    return undefined;
  }

  /** Price of an outcome; worked out once, as outcomes are remembered. */
  #priceOf({ template }: PlannedClaim, outcome: Outcome): number {
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
    const width = this.world.axis.names.length;
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
  #ceiling(template: Template, types: Bitset): Float64Array {
    const width = this.world.axis.names.length;
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
      if (this.world.minValuesPolicy === "Strict" || claim.pods.length > 0) return undefined;
      claim.minValuesRelaxed = true;
    }
    return { set, types };
  }
}

/** A number from a seed and a text, the same on every machine (FNV-1a). */
export function mixed(seed: number, text: string): number {
  let h = 2166136261 ^ seed;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  return (h ^ (h >>> 15)) >>> 0;
}

function countsOnNode(
  group: Ask["counting"][number],
  labels: Readonly<Record<string, string>>,
  taints: Parameters<typeof filterAdmitsNode>[2],
): boolean {
  return filterAdmitsNode(group.filter, labels, taints);
}
