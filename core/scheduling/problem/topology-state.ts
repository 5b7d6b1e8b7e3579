import { HOSTNAME, WELL_KNOWN_LABELS } from "../../model/labels.ts";
import { allowsAbsent, has, type Requirement } from "../../requirements/requirement.ts";
import type { Requirements } from "../../requirements/requirements.ts";
import type { TopologyGroup } from "../rules/topology-group.ts";
import type { PodData } from "./pod-class.ts";
import type { PossibleDomains } from "./possible-domains.ts";

/**
 * The topology counts of one attempt: by group, how many matching pods each domain has. It starts from the groups' own
 * counts.
 *
 *     const topology = new TopologyState(problem.groups);
 *     if (topology.allows(group, podData, "zone-a")) topology.add(group, "zone-a", 1);
 */
export class TopologyState {
  /** By index of the group: pods by domain. */
  readonly counts: readonly Map<string, number>[];
  /** The values that changes replaced; undefined without a journal. */
  readonly #journal: { readonly counts: Map<string, number>; readonly domain: string; readonly pods: number | undefined }[] | undefined;

  /** Strategy.countsOpenDomains. */
  readonly #countsOpenDomains: boolean;
  /** In the last pass (Strategy.leavesOutImpossible): the domains without a node that hard spreads count. */
  possible: PossibleDomains | undefined;

  /** With `keepsJournal`, changes can be reverted. */
  constructor(groups: readonly TopologyGroup[], { keepsJournal = false, countsOpenDomains = false } = {}) {
    this.#countsOpenDomains = countsOpenDomains;
    this.counts = groups.map(({ domains }) => new Map(domains));
    this.#journal = keepsJournal ? [] : undefined;
  }

  /** Adds pods to a domain, or subtracts them. */
  add(group: TopologyGroup, domain: string, pods: number): void {
    const counts = this.counts[group.index];
    if (counts === undefined) return;
    const before = counts.get(domain);
    this.#journal?.push({ counts, domain, pods: before });
    counts.set(domain, (before ?? 0) + pods);
  }

  /** The present state, for `revertTo`; only with a journal. */
  get checkpoint(): number {
    return this.#journal?.length ?? 0;
  }

  /** Takes back every change since a checkpoint. */
  revertTo(checkpoint: number): void {
    const journal = this.#journal ?? [];
    while (journal.length > checkpoint) {
      const { counts, domain, pods } = journal.pop() ?? { counts: new Map<string, number>(), domain: "", pods: undefined };
      if (pods === undefined) counts.delete(domain);
      else counts.set(domain, pods);
    }
  }

  #countsOf(group: TopologyGroup): Map<string, number> {
    return this.counts[group.index] ?? new Map();
  }

  /**
   * Whether a group allows a pod in a domain: the value of a node's label, or undefined for a node without the label.
   */
  allows(group: TopologyGroup, podData: PodData, domain: string | undefined): boolean {
    const counts = this.#countsOf(group);
    if (domain === undefined) return group.kind === "anti" || group.kind === "inverse";
    const present = counts.get(domain) ?? 0;
    switch (group.kind) {
      case "spread":
        return present + (podData.self.has(group) ? 1 : 0) - this.#minCount(group, podData) <= group.maxSkew;
      case "affinity":
        return present > 0 || (this.#mayStart(group, podData) && allowsDomain(podData.strict.get(group.key), domain));
      case "anti":
      case "inverse":
        return present === 0;
    }
  }

  /**
   * Lists of domains that a claim may be narrowed to so that the group allows the pod, best first; "any" when the claim
   * need not be narrowed, empty when no domain is allowed. `rank` orders domains that are equally good for the group.
   */
  choices(
    group: TopologyGroup,
    podData: PodData,
    claim: Requirements,
    hostname: string,
    rank: (domain: string) => number,
  ): readonly (readonly string[])[] | "any" {
    const { key, kind } = group;
    if (key === HOSTNAME) return this.allows(group, podData, hostname) ? "any" : [];
    const held = claim.get(key);
    if (held === undefined && !WELL_KNOWN_LABELS.has(key) && (kind === "anti" || kind === "inverse" || podData.watching.has(group)))
      return "any";
    const counts = this.#countsOf(group);
    const wanted = podData.strict.get(key);
    const open: string[] = [];
    for (const domain of counts.keys()) if (allowsDomain(held, domain) && allowsDomain(wanted, domain)) open.push(domain);
    if (podData.watching.has(group)) {
      // The group allows every domain here; it needs one only to be known, so the cheapest is first.
      if (open.length === 0 || (held !== undefined && !held.complement && held.values.size === 1)) return "any";
      // Last comes all of them: with minValues of this key no claim keeps only one.
      const choices = sorted(open, rank, (domain) => counts.get(domain) ?? 0).map((domain) => [domain]);
      return open.length > 1 ? [...choices, open.sort()] : choices;
    }
    switch (kind) {
      case "spread": {
        const own = podData.self.has(group) ? 1 : 0;
        const minCount = this.#minCount(group, podData);
        const valid = open.filter((domain) => (counts.get(domain) ?? 0) + own - minCount <= group.maxSkew);
        // A pod that the spread does not count changes nothing wherever it is.
        const hasKey = held === undefined ? WELL_KNOWN_LABELS.has(key) : !allowsAbsent(held);
        if (own === 0 && hasKey && open.length > 1 && valid.length === open.length) return "any";
        return sorted(valid, (domain) => counts.get(domain) ?? 0, rank).map((domain) => [domain]);
      }
      case "affinity": {
        const near = open.filter((domain) => (counts.get(domain) ?? 0) > 0);
        if (near.length > 0) return [near.sort()];
        return this.#mayStart(group, podData) ? sorted(open, () => 0, rank).map((domain) => [domain]) : [];
      }
      case "anti":
      case "inverse": {
        const free = open.filter((domain) => (counts.get(domain) ?? 0) === 0);
        if (free.length === 0) return [];
        // A pod with required anti-affinity to its own kind is pinned to one domain. Left open, the claim would block
        // every domain where it may still be, and the other pods would wait for the next run, as they do in Karpenter.
        // A preferred anti-affinity does not pin the claim, because that would cost cheaper types.
        if (kind === "anti" && podData.hard.has(group) && podData.self.has(group))
          return sorted(free, () => 0, rank).map((domain) => [domain]);
        return [free.sort()];
      }
    }
  }

  /** Those of some domains in which the group allows a pod: `choices` for claims that are in one domain already. */
  open(group: TopologyGroup, podData: PodData, domains: Iterable<string>): readonly string[] {
    const counts = this.#countsOf(group);
    const wanted = podData.strict.get(group.key);
    const minCount = group.kind === "spread" ? this.#minCount(group, podData) : 0;
    const own = podData.self.has(group) ? 1 : 0;
    const mayStart = group.kind === "affinity" && this.#mayStart(group, podData);
    const found: string[] = [];
    if (podData.watching.has(group)) return [...domains];
    for (const domain of domains) {
      const present = counts.get(domain);
      if (present === undefined || !allowsDomain(wanted, domain)) continue;
      const isOpen =
        group.kind === "spread"
          ? present + own - minCount <= group.maxSkew
          : group.kind === "affinity"
            ? present > 0 || mayStart
            : present === 0;
      if (isOpen) found.push(domain);
    }
    return found;
  }

  /**
   * Lowest count over the domains that the pod could use; 0 for hosts, because a new host is always possible, and 0
   * with fewer domains than minDomains
   * (karpenter: pkg/controllers/provisioning/scheduling/topologygroup.go, TopologyGroup.domainMinCount). Besides the
   * domains that this step allows, the domains of existing nodes that pass the filter count too. kube-scheduler reads
   * all OR-ed terms at once, and with nodeAffinityPolicy Ignore every node passes.
   */
  #minCount(group: TopologyGroup, podData: PodData): number {
    if (group.key === HOSTNAME) return 0;
    const wanted = podData.strict.get(group.key);
    const countsOpen = this.#countsOpenDomains && podData.isAlternative;
    const possible = podData.hard.has(group) ? this.possible : undefined;
    let lowest = Number.POSITIVE_INFINITY;
    let supported = 0;
    for (const [domain, n] of this.#countsOf(group)) {
      if (n === 0 && !group.present.has(domain)) {
        if (countsOpen || !allowsDomain(wanted, domain) || (possible !== undefined && !possible(group, domain))) continue;
      }
      supported++;
      if (n < lowest) lowest = n;
    }
    return supported === 0 || supported < (group.minDomains ?? 0) ? 0 : lowest;
  }

  /**
   * Whether a pod with affinity may be the first of its kind: the group selects the pod itself, and no matching pod is
   * counted in any domain of its required terms. Karpenter checks only the domains that the pod could use
   * (karpenter: pkg/controllers/provisioning/scheduling/topologygroup.go, TopologyGroup.nextDomainAffinity);
   * kube-scheduler, which decides in the end, checks all.
   */
  #mayStart(group: TopologyGroup, podData: PodData): boolean {
    if (!podData.self.has(group)) return false;
    if (!podData.hard.has(group)) return this.#isEmpty(group);
    return podData.deciding.every((other) => other.kind !== "affinity" || !podData.hard.has(other) || this.#isEmpty(other));
  }

  #isEmpty(group: TopologyGroup): boolean {
    for (const n of this.#countsOf(group).values()) if (n > 0) return false;
    return true;
  }
}

function allowsDomain(item: Requirement | undefined, domain: string): boolean {
  return item === undefined || has(item, domain);
}

/** Domains by `first`, then by `rank`, then by name. */
function sorted(domains: readonly string[], first: (domain: string) => number, rank: (domain: string) => number): string[] {
  if (domains.length < 2) return [...domains];
  return domains
    .map((domain) => ({ domain, first: first(domain), rank: rank(domain) }))
    .sort((a, b) => a.first - b.first || a.rank - b.rank || (a.domain < b.domain ? -1 : 1))
    .map(({ domain }) => domain);
}
