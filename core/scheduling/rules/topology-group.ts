import type { LabelSelector } from "../../model/kubernetes.ts";
import { WELL_KNOWN_LABELS } from "../../model/labels.ts";
import type { Pod } from "../../model/pod.ts";
import type { Taint, Toleration } from "../../model/taint.ts";
import { selects } from "../../pods/label-selector.ts";
import { untolerated } from "../../pods/taints.ts";
import { allowsAbsent, canonical, intersect, type Requirement } from "../../requirements/requirement.ts";
import { labelsCompatible, type Requirements } from "../../requirements/requirements.ts";
import type { RequirementSet } from "../tables/requirement-sets.ts";

/** Nodes that a spread counts: those with all `keys`, that meet one of `terms` (if any), and whose taints are tolerated (if `tolerations`). */
export interface NodeFilter {
  /** Keys of the other hard spreads of the pod: kube-scheduler leaves nodes out that lack one (podtopologyspread/filtering.go). */
  readonly keys: readonly string[];
  readonly terms: readonly Requirements[];
  readonly tolerations: readonly Toleration[] | undefined;
}

/**
 * One rule about where pods lie relative to each other, shared by all pods that declare the same (scheduling.md §10).
 * "inverse" belongs to the pods that others must keep away from.
 */
export interface TopologyGroup {
  readonly index: number;
  readonly kind: "spread" | "affinity" | "anti" | "inverse";
  readonly key: string;
  /** Undefined: every namespace. */
  readonly namespaces: ReadonlySet<string> | undefined;
  readonly selector: LabelSelector | undefined;
  readonly maxSkew: number;
  readonly minDomains: number | undefined;
  readonly filter: NodeFilter;
  /** Domain to matching pods that are there before the run; domains that are merely possible have 0. */
  readonly domains: Map<string, number>;
  /** Domains of nodes that are there and that the filter admits. */
  readonly present: Set<string>;
}

/** Counts every node. */
export const NO_FILTER: NodeFilter = { keys: [], terms: [], tolerations: undefined };

/** Whether a pod is one of those that the group counts, or that must keep away: its namespace and labels, wherever it lies. */
export function groupSelects(group: TopologyGroup, pod: Pod): boolean {
  if (group.namespaces !== undefined && !group.namespaces.has(pod.metadata.namespace ?? "default")) return false;
  return selects(group.selector, pod.metadata.labels);
}

/** Groups by what they select, since a run may have thousands and a pod is selected by few. */
export class GroupIndex {
  /** Groups that want a certain label. */
  readonly #byLabel = new Map<string, TopologyGroup[]>();
  readonly #others: TopologyGroup[] = [];

  constructor(groups: readonly TopologyGroup[]) {
    for (const group of groups) {
      const [label] = Object.entries(group.selector?.matchLabels ?? {});
      if (label === undefined) {
        this.#others.push(group);
        continue;
      }
      const text = label.join("=");
      const known = this.#byLabel.get(text);
      if (known === undefined) this.#byLabel.set(text, [group]);
      else known.push(group);
    }
  }

  /** Groups that select a pod, in the order of the groups. */
  selecting(pod: Pod): readonly TopologyGroup[] {
    const likely = [...this.#others];
    for (const label of Object.entries(pod.metadata.labels ?? {})) likely.push(...(this.#byLabel.get(label.join("=")) ?? []));
    return likely.filter((group) => groupSelects(group, pod)).sort((a, b) => a.index - b.index);
  }
}

/** Whether pods on an existing node count. */
export function filterAdmitsNode(filter: NodeFilter, labels: Readonly<Record<string, string>>, taints: readonly Taint[]): boolean {
  if (filter.keys.some((key) => labels[key] === undefined)) return false;
  if (filter.tolerations !== undefined && untolerated(taints, filter.tolerations) !== undefined) return false;
  return filter.terms.length === 0 || filter.terms.some((term) => labelsCompatible(labels, term));
}

/**
 * Whether pods on a planned claim are sure to count. Who may or may not count does not: kube-scheduler can bind such pods after those that
 * the spread belongs to. (Karpenter counts whoever may.)
 */
export function filterAdmitsClaim(filter: NodeFilter, { requirements }: RequirementSet, taints: readonly Taint[]): boolean {
  if (filter.keys.some((key) => !isSure(key, requirements.get(key)))) return false;
  if (filter.tolerations !== undefined && untolerated(taints, filter.tolerations) !== undefined) return false;
  return filter.terms.length === 0 || filter.terms.some((term) => isWithin(requirements, term));
}

/** Whether every node that meets the first requirements meets the others. */
function isWithin(own: Requirements, others: Requirements): boolean {
  for (const [key, other] of others) {
    const item = own.get(key);
    const mayLack = item === undefined ? !WELL_KNOWN_LABELS.has(key) : allowsAbsent(item);
    if (mayLack && !allowsAbsent(other)) return false;
    if (item === undefined ? !mayLack : canonical(intersect(item, other)) !== canonical(item)) return false;
  }
  return true;
}

/** Whether the node of a claim will have a label: types bring the well-known ones, others must be asked for. */
function isSure(key: string, item: Requirement | undefined): boolean {
  return WELL_KNOWN_LABELS.has(key) || (item !== undefined && !allowsAbsent(item));
}
