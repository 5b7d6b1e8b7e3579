import { ownValue } from "../../lib/own-value.ts";
import type { LabelSelector } from "../../model/kubernetes.ts";
import { WELL_KNOWN_LABELS } from "../../model/labels.ts";
import type { Pod } from "../../model/pod.ts";
import type { Taint, Toleration } from "../../model/taint.ts";
import { selects } from "../../pods/label-selector.ts";
import { untolerated } from "../../pods/taints.ts";
import { allowsAbsent, canonical, intersect, type Requirement } from "../../requirements/requirement.ts";
import { labelsCompatible, type Requirements } from "../../requirements/requirements.ts";
import type { RequirementSet } from "../tables/requirement-sets.ts";

/**
 * The nodes that a spread counts: those with all `keys`, that meet one of `terms` (if any), and whose taints are
 * tolerated (if `tolerations`)
 * (karpenter: pkg/controllers/provisioning/scheduling/topologynodefilter.go, TopologyNodeFilter.Matches).
 */
export interface NodeFilter {
  /**
   * Keys of the pod's hard spreads. kube-scheduler does not count nodes that lack one of them
   * (kubernetes: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go, PodTopologySpread.calPreFilterState).
   */
  readonly keys: readonly string[];
  /** Of `keys`, the one that need not be there: the spread's own key, which decides about the domain. */
  readonly ownKey?: string;
  readonly terms: readonly Requirements[];
  readonly tolerations: readonly Toleration[] | undefined;
}

/**
 * One topology rule, shared by all pods that declare the same rule: a count of matching pods by domain of a topology
 * key, and a condition on it (karpenter: pkg/controllers/provisioning/scheduling/topologygroup.go, TopologyGroup). Kind
 * "inverse" is the other side of a required anti-affinity: it counts the pods that declare it, and keeps the selected
 * pods away from them.
 *
 * Example: 5 pods "app=web" in zone-a and none in zone-b, with a spread of maxSkew 1, are
 *
 *     { kind: "spread", key: ZONE, maxSkew: 1, domains: new Map([["zone-a", 5], ["zone-b", 0]]), … }
 */
export interface TopologyGroup {
  readonly index: number;
  readonly kind: "spread" | "affinity" | "anti" | "inverse";
  readonly key: string;
  /** Namespaces of the selected pods; undefined for all. */
  readonly namespaces: ReadonlySet<string> | undefined;
  readonly selector: LabelSelector | undefined;
  readonly maxSkew: number;
  readonly minDomains: number | undefined;
  readonly filter: NodeFilter;
  /** Matching pods by domain before the run; domains that only new nodes could have count 0. */
  readonly domains: Map<string, number>;
  /** Domains of existing nodes that the filter admits. */
  readonly present: Set<string>;
}

/** A filter that admits every node. */
export const NO_FILTER: NodeFilter = { keys: [], terms: [], tolerations: undefined };

/** Whether the group selects a pod by namespace and labels, on whatever node the pod is. */
export function groupSelects(group: TopologyGroup, pod: Pod): boolean {
  if (group.namespaces !== undefined && !group.namespaces.has(pod.metadata.namespace ?? "default")) return false;
  return selects(group.selector, pod.metadata.labels);
}

/** An index of groups by selector label, because a run may have thousands of groups, and few select one pod. */
export class GroupIndex {
  /** Groups whose selector requires one of some values of a label, by "key=value". */
  readonly #byLabel = new Map<string, TopologyGroup[]>();
  readonly #others: TopologyGroup[] = [];

  constructor(groups: readonly TopologyGroup[]) {
    for (const group of groups) {
      const labels = requiredLabels(group.selector);
      if (labels === undefined) this.#others.push(group);
      for (const label of labels ?? []) {
        const known = this.#byLabel.get(label);
        if (known === undefined) this.#byLabel.set(label, [group]);
        else known.push(group);
      }
    }
  }

  /** Groups that select a pod, in the order of the groups. */
  selecting(pod: Pod): readonly TopologyGroup[] {
    const candidates = [...this.#others];
    for (const label of Object.entries(pod.metadata.labels ?? {})) candidates.push(...(this.#byLabel.get(label.join("=")) ?? []));
    return candidates.filter((group) => groupSelects(group, pod)).sort((a, b) => a.index - b.index);
  }
}

/** Labels as "key=value", of which a selected pod has exactly one; undefined when a selector requires no value. */
function requiredLabels(selector: LabelSelector | undefined): readonly string[] | undefined {
  const [label] = Object.entries(selector?.matchLabels ?? {});
  if (label !== undefined) return [label.join("=")];
  const listed = (selector?.matchExpressions ?? []).find(({ operator }) => operator === "In");
  return listed && [...new Set(listed.values)].map((value) => `${listed.key}=${value}`);
}

/** Whether pods on an existing node count in a spread. */
export function filterAdmitsNode(filter: NodeFilter, labels: Readonly<Record<string, string>>, taints: readonly Taint[]): boolean {
  if (filter.keys.some((key) => key !== filter.ownKey && ownValue(labels, key) === undefined)) return false;
  if (filter.tolerations !== undefined && untolerated(taints, filter.tolerations) !== undefined) return false;
  return filter.terms.length === 0 || filter.terms.some((term) => labelsCompatible(labels, term));
}

/**
 * Whether pods on a planned claim are sure to count: by its requirements, or because all its types meet one
 * (`allTypesMeet`). Pods that may or may not count are left out, because kube-scheduler can bind them after the pods
 * that declare the spread. Karpenter counts every pod that may count
 * (karpenter: pkg/controllers/provisioning/scheduling/topologygroup.go, TopologyGroup.Counts).
 */
export function filterAdmitsClaim(
  filter: NodeFilter,
  { requirements }: RequirementSet,
  taints: readonly Taint[],
  allTypesMeet: (item: Requirement) => boolean,
): boolean {
  if (filter.keys.some((key) => key !== filter.ownKey && !isSure(key, requirements.get(key)))) return false;
  if (filter.tolerations !== undefined && untolerated(taints, filter.tolerations) !== undefined) return false;
  return filter.terms.length === 0 || filter.terms.some((term) => isWithin(requirements, term, allTypesMeet));
}

/** Whether every node that meets `own` meets `others`. */
function isWithin(own: Requirements, others: Requirements, allTypesMeet: (item: Requirement) => boolean): boolean {
  for (const [key, other] of others) if (!isNarrower(key, own.get(key), other) && !allTypesMeet(other)) return false;
  return true;
}

function isNarrower(key: string, item: Requirement | undefined, other: Requirement): boolean {
  const mayLack = item === undefined ? !WELL_KNOWN_LABELS.has(key) : allowsAbsent(item);
  if (mayLack && !allowsAbsent(other)) return false;
  return item === undefined ? mayLack : canonical(intersect(item, other)) === canonical(item);
}

/** Whether the node of a claim is sure to have a label: types bring well-known labels, others need a requirement. */
function isSure(key: string, item: Requirement | undefined): boolean {
  return WELL_KNOWN_LABELS.has(key) || (item !== undefined && !allowsAbsent(item));
}
