// Room core/scheduling/claims: NodeClaims that one attempt plans. In: a SchedulingProblem, pods one by one. Out:
// PlannedClaims, their prices and, by assemble.ts, the plan's form of them. evaluation.ts decides whether a claim takes
// a pod, cheapest-claim.ts which one costs least. Must not know: the order of pods, strategies, packing proposals (they
// are in attempt.ts and search.ts).

import { HOSTNAME } from "../../model/labels.ts";
import type { Pod } from "../../model/pod.ts";
import { OFFERING_KEYS } from "../../requirements/offerings.ts";
import { has, type Requirement } from "../../requirements/requirement.ts";
import { openTypes } from "../problem/open-types.ts";
import type { PodData } from "../problem/pod-class.ts";
import type { Template } from "../problem/template.ts";
import type { TopologyState } from "../problem/topology-state.ts";
import type { HostPort } from "../rules/host-ports.ts";
import type { TopologyGroup } from "../rules/topology-group.ts";
import { filterAdmitsClaim } from "../rules/topology-group.ts";
import { type Bitset, setBit } from "../tables/bitset.ts";
import type { Frontier } from "../tables/frontier.ts";
import type { RequirementSet } from "../tables/requirement-sets.ts";
import { addTo } from "../tables/resource-axis.ts";

/**
 * How a topology group counts a claim's pods: `pods` in each of `domains`, where the claim's node is or may still be.
 */
interface LedgerEntry {
  readonly group: TopologyGroup;
  pods: number;
  domains: readonly string[];
}

/** What claims with the same contents share (claim-state.ts). */
export interface SharedState {
  /** Number of pods of each claim. */
  readonly pods: number;
  /** Number of claims that are in the state now. */
  live: number;
  /** Types that the claims may still be launched as; undefined until first read. */
  types: Bitset | undefined;
}

/**
 * A new NodeClaim that an attempt fills with pods. It starts with its pool's requirements and types, and each pod
 * narrows it.
 *
 *     const claim = new PlannedClaim(0, template, limits.base(template), axis.names.length);
 *     const outcome = evaluation.evaluate(claim, podData);
 *     if (typeof outcome === "object") claim.take(podData, pod, outcome.set, topology);
 */
export class PlannedClaim {
  readonly index: number;
  readonly template: Template;
  /** A name that no node has; the claim's domain of kubernetes.io/hostname. */
  readonly hostname: string;
  /** The pool's requirements joined with those of the pods. */
  set: RequirementSet;
  /** Types to start from: those of the pool, or those of them that its limits leave. */
  base: Bitset;
  /** Requests of its pods, in milli-units by resource. */
  readonly used: Float64Array;
  readonly pods: Pod[] = [];
  ports: readonly HostPort[] = [];
  /** Whether it has fewer types than minValues requires (policy BestEffort). */
  minValuesRelaxed = false;
  /** USD per hour of the cheapest type that is left, surplus credits included. */
  price = 0;
  /** That type, as its index in the pool's table; -1 while the claim has no pods. */
  cheapest = -1;
  /** What it uses of its pool's limits (limits.ts); undefined before that is counted. */
  charge: Float64Array | undefined;
  /**
   * The state that it shares with claims of the same contents; undefined in attempts that do not compare added prices.
   */
  state: SharedState | undefined;
  /** Place of its cheapest type on `frontier`: with more pods, the search continues from there. */
  place = 0;
  frontier: Frontier | undefined;
  /** Ids of the capacity reservations of which it holds one instance each. */
  reservations: readonly string[] = [];
  /** By index of the topology group. */
  readonly #ledger = new Map<number, LedgerEntry>();
  #types: { readonly types: Bitset; readonly pods: number } | undefined;

  constructor(index: number, template: Template, base: Bitset, width: number) {
    this.index = index;
    this.template = template;
    this.hostname = `planned-claim-${index}`;
    this.set = template.set;
    this.base = base;
    this.used = new Float64Array(width);
  }

  /** Types that it may still be launched as; computed when first read after a change. */
  get types(): Bitset {
    const { state } = this;
    if (state?.pods === this.pods.length) {
      state.types ??= openTypes(this.template, this.base, this.set, this.used, this.ports);
      return state.types;
    }
    if (this.#types?.pods !== this.pods.length) {
      this.#types = { types: openTypes(this.template, this.base, this.set, this.used, this.ports), pods: this.pods.length };
    }
    return this.#types.types;
  }

  /** Leaves the claim only some of its types. Its pods must be complete. */
  keepTypes(types: readonly number[]): void {
    const kept = new Uint32Array(this.base.length);
    for (const t of types) setBit(kept, t);
    this.base = kept;
    this.state = undefined;
    this.#types = { types: kept, pods: this.pods.length };
  }

  /** Lets the claim be any type of its pool again that holds its pods. */
  reopen(): void {
    this.base = this.template.types;
    this.state = undefined;
    this.#types = undefined;
    this.frontier = undefined;
    this.place = 0;
  }

  /** Takes a pod, narrows the claim to `set` (Outcome.set), and counts the pod in its topology groups. */
  take(podData: PodData, pod: Pod, set: RequirementSet, topology: TopologyState): void {
    addTo(this.used, podData.vector);
    this.pods.push(pod);
    if (podData.class.ports.length > 0) this.ports = [...this.ports, ...podData.class.ports];
    if (this.set !== set) {
      this.set = set;
      for (const entry of this.#ledger.values()) this.#recount(entry, topology);
    }
    for (const group of podData.counting) {
      if (!filterAdmitsClaim(group.filter, set, this.template.taints, (item) => this.#allTypesMeet(item))) continue;
      const entry = this.#ledger.get(group.index) ?? { group, pods: 0, domains: this.#domains(group, topology) };
      this.#ledger.set(group.index, entry);
      entry.pods++;
      for (const domain of entry.domains) topology.add(group, domain, 1);
    }
  }

  /** Whether each type that is left meets a requirement, on a label that the offering does not decide. */
  #allTypesMeet(item: Requirement): boolean {
    const meeting = OFFERING_KEYS.includes(item.key) ? undefined : this.template.table.agreeing(item);
    return meeting !== undefined && this.types.every((word, w) => (word & ~(meeting[w] ?? 0)) === 0);
  }

  /**
   * Counts the claim's pods in its present domains only: a narrower claim frees the domains that it can no longer be
   * in.
   */
  #recount(entry: LedgerEntry, topology: TopologyState): void {
    const domains = this.#domains(entry.group, topology);
    for (const domain of entry.domains) topology.add(entry.group, domain, -entry.pods);
    for (const domain of domains) topology.add(entry.group, domain, entry.pods);
    entry.domains = domains;
  }

  /**
   * Domains in which a group counts the claim. Spread and affinity count a pod only where it is sure to be,
   * anti-affinity wherever it might be
   * (karpenter: pkg/controllers/provisioning/scheduling/topology.go, Topology.Record). A custom label that no
   * requirement defines will not be on the node, so it has no domain.
   */
  #domains(group: TopologyGroup, topology: TopologyState): readonly string[] {
    if (group.key === HOSTNAME) return [this.hostname];
    const item = this.set.requirements.get(group.key);
    const isApart = group.kind === "anti" || group.kind === "inverse";
    if (item !== undefined && !item.complement) return isApart || item.values.size === 1 ? [...item.values] : [];
    if (!isApart) return [];
    const known = topology.counts[group.index]?.keys() ?? [];
    return [...known].filter((domain) => item === undefined || has(item, domain));
  }
}
