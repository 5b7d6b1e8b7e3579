import { HOSTNAME, WELL_KNOWN_LABELS } from "../../model/labels.ts";
import { has, type Requirement } from "../../requirements/requirement.ts";
import type { Requirements } from "../../requirements/requirements.ts";
import type { TopologyGroup } from "../rules/topology-group.ts";
import type { PodData } from "./pod-class.ts";

/** Counts of one run: how many matching pods lie in each domain, by group. */
export class TopologyState {
  readonly counts: readonly Map<string, number>[];
  /** What each change has replaced, for those who want to go back. */
  readonly #journal: { readonly counts: Map<string, number>; readonly domain: string; readonly pods: number | undefined }[] | undefined;

  /** With `keepsJournal`, changes can be taken back. */
  constructor(groups: readonly TopologyGroup[], keepsJournal = false) {
    this.counts = groups.map(({ domains }) => new Map(domains));
    this.#journal = keepsJournal ? [] : undefined;
  }

  add(group: TopologyGroup, domain: string, pods: number): void {
    const counts = this.counts[group.index];
    if (counts === undefined) return;
    const before = counts.get(domain);
    this.#journal?.push({ counts, domain, pods: before });
    counts.set(domain, (before ?? 0) + pods);
  }

  /** Where the journal stands, to be given to `backTo`. */
  get checkpoint(): number {
    return this.#journal?.length ?? 0;
  }

  /** Takes back every change since the mark. */
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

  /** Whether a pod may go to a domain that is known: an existing node's label, or undefined where it has none. */
  allows(group: TopologyGroup, podData: PodData, domain: string | undefined): boolean {
    const counts = this.#countsOf(group);
    if (domain === undefined) return group.kind === "anti" || group.kind === "inverse";
    const present = counts.get(domain) ?? 0;
    switch (group.kind) {
      case "spread":
        return present + (podData.self.has(group) ? 1 : 0) - this.#least(group, podData) <= group.maxSkew;
      case "affinity":
        return present > 0 || (this.#mayStart(group, podData) && allowsDomain(podData.strict.get(group.key), domain));
      case "anti":
      case "inverse":
        return present === 0;
    }
  }

  /**
   * Domains that a claim may be narrowed to so that the group agrees, best first; "any" when it need not be, empty when nothing helps.
   * `rank` orders domains that are equally good for the group.
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
      // It asks for nothing but to know: the cheapest domain will do.
      if (open.length === 0 || (held !== undefined && !held.complement && held.values.size === 1)) return "any";
      return sorted(open, rank, (domain) => counts.get(domain) ?? 0).map((domain) => [domain]);
    }
    switch (kind) {
      case "spread": {
        const own = podData.self.has(group) ? 1 : 0;
        const least = this.#least(group, podData);
        const valid = open.filter((domain) => (counts.get(domain) ?? 0) + own - least <= group.maxSkew);
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
        // A pod that keeps away from its own kind is pinned to one domain: left open, it would block every domain it might
        // still land in, and its siblings would wait for the next run (as they do in Karpenter). A preference is not worth that.
        if (kind === "anti" && podData.hard.has(group) && podData.self.has(group))
          return sorted(free, () => 0, rank).map((domain) => [domain]);
        return [free.sort()];
      }
    }
  }

  /**
   * Of some domains those to which the group would let a pod: what is left of `choices` for claims that lie in one domain already.
   */
  open(group: TopologyGroup, podData: PodData, domains: Iterable<string>): readonly string[] {
    const counts = this.#countsOf(group);
    const wanted = podData.strict.get(group.key);
    const least = group.kind === "spread" ? this.#least(group, podData) : 0;
    const own = podData.self.has(group) ? 1 : 0;
    const mayStart = group.kind === "affinity" && this.#mayStart(group, podData);
    const found: string[] = [];
    if (podData.watching.has(group)) return [...domains];
    for (const domain of domains) {
      const present = counts.get(domain);
      if (present === undefined || !allowsDomain(wanted, domain)) continue;
      const isOpen =
        group.kind === "spread"
          ? present + own - least <= group.maxSkew
          : group.kind === "affinity"
            ? present > 0 || mayStart
            : present === 0;
      if (isOpen) found.push(domain);
    }
    return found;
  }

  /**
   * Lowest count over the domains that the pod could use; 0 for hosts, since there can always be a new one. Besides those that this shape allows,
   * domains count in which kube-scheduler will see a node that passes the filter: for it all OR-ed terms hold at once, and
   * under nodeAffinityPolicy Ignore every node does.
   */
  #least(group: TopologyGroup, podData: PodData): number {
    if (group.key === HOSTNAME) return 0;
    const wanted = podData.strict.get(group.key);
    let least = Number.POSITIVE_INFINITY;
    let supported = 0;
    for (const [domain, n] of this.#countsOf(group)) {
      if (n === 0 && !allowsDomain(wanted, domain) && !group.present.has(domain)) continue;
      supported++;
      if (n < least) least = n;
    }
    return supported === 0 || supported < (group.minDomains ?? 0) ? 0 : least;
  }

  /**
   * Whether a pod may be the first of its kind: it matches its own terms, and no company lies anywhere, in the domains of any of its
   * required terms. Karpenter asks only about the domains that the pod could use; kube-scheduler, which has the last word, about all.
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

function sorted(domains: readonly string[], first: (domain: string) => number, rank: (domain: string) => number): string[] {
  if (domains.length < 2) return [...domains];
  return domains
    .map((domain) => ({ domain, first: first(domain), rank: rank(domain) }))
    .sort((a, b) => a.first - b.first || a.rank - b.rank || (a.domain < b.domain ? -1 : 1))
    .map(({ domain }) => domain);
}
