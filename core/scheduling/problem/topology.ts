import { oncePer } from "../../lib/once-per.ts";
import { ownValue } from "../../lib/own-value.ts";
import { HOSTNAME } from "../../model/labels.ts";
import type { Pod, PodAffinityTerm, TopologySpreadConstraint } from "../../model/pod.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import type { Taint, Toleration } from "../../model/taint.ts";
import { selectorOfAll, selects, withLabelKeys } from "../../pods/label-selector.ts";
import { isTerminal, isTerminating } from "../../pods/predicates.ts";
import { TOLERATE_SOFT, untolerated } from "../../pods/taints.ts";
import { canonical, has } from "../../requirements/requirement.ts";
import { intersectAll, normalizeKey, requirementsFrom, requirementsFromLabels } from "../../requirements/requirements.ts";
import { requiredTerms } from "../rules/preferences.ts";
import { filterAdmitsNode, groupSelects, NO_FILTER, type NodeFilter, type TopologyGroup } from "../rules/topology-group.ts";
import type { Template } from "./template.ts";

/** The node of a pod, as far as counting needs it. */
export interface Place {
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
}

/**
 * Collects the topology groups of a run, their domains and the counts before the run
 * (karpenter: pkg/controllers/provisioning/scheduling/topology.go, Topology).
 */
export class TopologyBuilder {
  readonly groups: TopologyGroup[] = [];
  readonly #byIdentity = new Map<string, TopologyGroup>();
  readonly #texts = new Map<string, number>();
  /** Each relaxation step of a pod asks for the groups of its terms again. */
  readonly #byTerm = new Map<Pod, Map<PodAffinityTerm, TopologyGroup>>();
  readonly #snapshot: Snapshot;
  readonly #templates: readonly Template[];
  /** By topology key: domains of new nodes, each with the taints of the pools that have it. */
  readonly #universe = new Map<string, Map<string, (readonly Taint[])[]>>();

  constructor(snapshot: Snapshot, templates: readonly Template[]) {
    this.#snapshot = snapshot;
    this.#templates = templates;
  }

  /** The group of a topology spread constraint of a pod. */
  spread(pod: Pod, constraint: TopologySpreadConstraint, tolerations: readonly Toleration[]): TopologyGroup {
    const honorsTaints = constraint.nodeTaintsPolicy === "Honor";
    const filter: NodeFilter = {
      ...(constraint.whenUnsatisfiable === "DoNotSchedule"
        ? { keys: hardKeys(pod.spec), ownKey: normalizeKey(constraint.topologyKey) }
        : { keys: NO_KEYS }),
      terms: constraint.nodeAffinityPolicy === "Ignore" ? NO_TERMS : filterTerms(pod.spec),
      tolerations: honorsTaints ? [...tolerations.filter((one) => one !== TOLERATE_SOFT), TOLERATE_SOFT] : undefined,
    };
    return this.#group({
      kind: "spread",
      key: normalizeKey(constraint.topologyKey),
      namespaces: new Set([pod.metadata.namespace ?? "default"]),
      selector: withLabelKeys(constraint.labelSelector, constraint.matchLabelKeys, pod.metadata.labels),
      maxSkew: constraint.maxSkew,
      minDomains: constraint.minDomains,
      filter,
    });
  }

  /** The group of one affinity term of a pod. */
  affinity(pod: Pod, term: PodAffinityTerm, kind: "affinity" | "anti" | "inverse"): TopologyGroup {
    const ofPod = this.#byTerm.get(pod) ?? new Map<PodAffinityTerm, TopologyGroup>();
    this.#byTerm.set(pod, ofPod);
    const known = ofPod.get(term);
    // One object may be listed as a term of affinity and of anti-affinity.
    if (known !== undefined && known.kind === kind) return known;
    const group = this.#affinityGroup(kind, term.topologyKey, this.#selectedBy(pod, term));
    ofPod.set(term, group);
    return group;
  }

  /**
   * The groups of a pod's required affinity, by term. They count only pods that match all terms at once, as
   * kube-scheduler does
   * (kubernetes: pkg/scheduler/framework/plugins/interpodaffinity/filtering.go, podMatchesAllAffinityTerms). Karpenter
   * counts the pods of each term separately.
   */
  requiredAffinity(pod: Pod, terms: readonly PodAffinityTerm[]): readonly TopologyGroup[] {
    const selections = terms.map((term) => this.#selectedBy(pod, term));
    const selector = selectorOfAll(selections.map((selection) => selection.selector));
    const known = selections.flatMap(({ namespaces }) => (namespaces === undefined ? [] : [namespaces]));
    const namespaces =
      known.length === 0 ? undefined : new Set(known.reduce<ReadonlySet<string>>((a, b) => a.intersection(b), new Set(known[0])));
    return terms.map(({ topologyKey }) => this.#affinityGroup("affinity", topologyKey, { selector, namespaces }));
  }

  #affinityGroup(kind: "affinity" | "anti" | "inverse", topologyKey: string, selected: Pick<TopologyGroup, "selector" | "namespaces">) {
    return this.#group({ kind, key: normalizeKey(topologyKey), ...selected, maxSkew: 0, minDomains: undefined, filter: NO_FILTER });
  }

  /** The pods that a term selects. */
  #selectedBy(pod: Pod, term: PodAffinityTerm): Pick<TopologyGroup, "selector" | "namespaces"> {
    const selector = withLabelKeys(term.labelSelector, term.matchLabelKeys, pod.metadata.labels);
    return {
      namespaces: this.#namespacesOf(pod, term),
      selector: withLabelKeys(selector, term.mismatchLabelKeys, pod.metadata.labels, "NotIn"),
    };
  }

  /** Namespaces of the pods that a term selects; undefined for all. */
  #namespacesOf(pod: Pod, term: PodAffinityTerm): ReadonlySet<string> | undefined {
    const { namespaces = [], namespaceSelector } = term;
    if (namespaceSelector === undefined || namespaceSelector === null) {
      return new Set(namespaces.length > 0 ? namespaces : [pod.metadata.namespace ?? "default"]);
    }
    if (Object.keys(namespaceSelector.matchLabels ?? {}).length === 0 && (namespaceSelector.matchExpressions ?? []).length === 0)
      return undefined;
    const selected = this.#snapshot.namespaces.filter(({ metadata }) => selects(namespaceSelector, metadata.labels));
    return new Set([...namespaces, ...selected.map(({ metadata }) => metadata.name)]);
  }

  /** The one group with this rule. */
  #group(rule: Omit<TopologyGroup, "index" | "domains" | "present">): TopologyGroup {
    const identity = JSON.stringify([
      rule.kind,
      rule.key,
      rule.namespaces === undefined ? "*" : [...rule.namespaces].sort(),
      rule.selector ? this.#numberOf(textOf(rule.selector)) : null,
      rule.maxSkew,
      rule.minDomains ?? 0,
      this.#numberOf(termsText(rule.filter.terms)),
      rule.filter.tolerations ?? null,
      this.#numberOf(textOf(rule.filter.keys)),
    ]);
    const known = this.#byIdentity.get(identity);
    if (known !== undefined) return known;
    const group: TopologyGroup = { ...rule, index: this.groups.length, domains: new Map(), present: new Set() };
    for (const [domain, taintSets] of this.#domainsOf(rule.key)) {
      const { tolerations } = rule.filter;
      if (tolerations === undefined || taintSets.some((taints) => untolerated(taints, tolerations) === undefined))
        group.domains.set(domain, 0);
    }
    this.#byIdentity.set(identity, group);
    this.groups.push(group);
    return group;
  }

  /** A short name of a text that may be long: a pod may have thousands of terms, and as many relaxation steps. */
  #numberOf(text: string): number {
    const number = this.#texts.get(text) ?? this.#texts.size;
    this.#texts.set(text, number);
    return number;
  }

  /** Values of a key that new nodes may have, each with the taints of the pools that have it. */
  #domainsOf(key: string): Map<string, (readonly Taint[])[]> {
    const known = this.#universe.get(key);
    if (known !== undefined) return known;
    const domains = new Map<string, (readonly Taint[])[]>();
    const add = (domain: string, template: Template): void => {
      const taintSets = domains.get(domain) ?? [];
      if (!taintSets.includes(template.taints)) taintSets.push(template.taints);
      domains.set(domain, taintSets);
    };
    for (const template of this.#templates) {
      if (key === HOSTNAME) continue;
      const own = template.set.requirements.get(key);
      if (own !== undefined && !own.complement) for (const value of own.values) add(value, template);
      for (const value of template.table.allValuesOf(key)) if (own === undefined || has(own, value)) add(value, template);
    }
    this.#universe.set(key, domains);
    return domains;
  }

  /**
   * Adds the domains of existing nodes to all groups, and counts the pods that are `placed`. Call it once all groups
   * exist.
   */
  count(nodes: readonly Place[], placed: Iterable<readonly [Pod, Place]>): void {
    for (const group of this.groups) {
      if (group.kind === "inverse") continue;
      for (const { labels, taints } of nodes) {
        const domain = ownValue(labels, group.key);
        if (domain === undefined || !filterAdmitsNode(group.filter, labels, taints)) continue;
        group.present.add(domain);
        if (!group.domains.has(domain)) group.domains.set(domain, 0);
      }
    }
    const counted = this.groups.filter(({ kind }) => kind !== "inverse");
    for (const [pod, { labels, taints }] of placed) {
      if (isTerminal(pod) || isTerminating(pod)) continue;
      for (const group of counted) {
        const domain = ownValue(labels, group.key);
        if (domain === undefined || !groupSelects(group, pod) || !filterAdmitsNode(group.filter, labels, taints)) continue;
        group.domains.set(domain, (group.domains.get(domain) ?? 0) + 1);
      }
      for (const term of pod.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) {
        const domain = ownValue(labels, normalizeKey(term.topologyKey));
        if (domain === undefined) continue;
        const group = this.affinity(pod, term, "inverse");
        group.domains.set(domain, (group.domains.get(domain) ?? 0) + 1);
      }
    }
  }
}

const NO_TERMS: NodeFilter["terms"] = [];

/**
 * nodeSelector joined with each required node affinity term; empty when the pod requires nothing. Once for each spec,
 * because each spread of each relaxation step asks.
 */
const filterTerms = oncePer((spec: Pod["spec"]): NodeFilter["terms"] => {
  const selector = requirementsFromLabels(spec.nodeSelector);
  const terms = requiredTerms(spec);
  if (terms.length === 0) return selector.size === 0 ? NO_TERMS : [selector];
  return terms.map(({ matchExpressions }) => intersectAll(selector, requirementsFrom(matchExpressions)));
});

const termsText = oncePer((terms: NodeFilter["terms"]): string =>
  JSON.stringify(terms.map((term) => [...term.values()].map(canonical).sort())),
);

const NO_KEYS: readonly string[] = [];

/** Keys of a pod's hard spreads, without the hostname, which every node has. One list for all spreads of a spec. */
const hardKeys = oncePer(({ topologySpreadConstraints }: Pod["spec"]): readonly string[] => {
  const hard = (topologySpreadConstraints ?? []).filter(({ whenUnsatisfiable }) => whenUnsatisfiable === "DoNotSchedule");
  const keys = new Set(hard.map(({ topologyKey }) => normalizeKey(topologyKey)));
  return [...keys].filter((key) => key !== HOSTNAME).sort();
});

/** The text of a list or selector that several groups share, once. */
const textOf = oncePer((shared: object): string => JSON.stringify(shared));
