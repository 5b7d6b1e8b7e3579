import { ownValue } from "#core/lib/own-value.ts";
import type { LabelSelector } from "#core/model/kubernetes.ts";
import type { Node } from "#core/model/node.ts";
import type { Pod, PodAffinityTerm, TopologySpreadConstraint } from "#core/model/pod.ts";
import { matchesSelector } from "#manifests/selectors.ts";
import { isTerminating } from "./actor.ts";
import { selectsNode, untolerated } from "./placement.ts";

/** A node with its pods. */
interface PlacedPods {
  readonly node: Node;
  readonly pods: readonly Pod[];
}

/**
 * The rules that look at the pods of other nodes; they are computed once for a pod and then asked for each node. These
 * are the binding spread constraints (kubernetes: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go,
 * PodTopologySpread.Filter) and required affinity and anti-affinity in both directions (kubernetes:
 * pkg/scheduler/framework/plugins/interpodaffinity/filtering.go, InterPodAffinity.Filter).
 */
export function topologyRules(
  pod: Pod,
  cluster: readonly PlacedPods[],
  namespaceLabels: (namespace: string) => Readonly<Record<string, string>>,
): (node: Node) => string | undefined {
  const rules = [...spreadRules(pod, cluster), ...affinityRules(pod, cluster, namespaceLabels)];
  return (node) => {
    for (const rule of rules) {
      const reason = rule(node);
      if (reason !== undefined) return reason;
    }
    return undefined;
  };
}

type Rule = (node: Node) => string | undefined;

function spreadRules(pod: Pod, cluster: readonly PlacedPods[]): Rule[] {
  const constraints = (pod.spec.topologySpreadConstraints ?? []).filter((c) => c.whenUnsatisfiable === "DoNotSchedule");
  const keys = constraints.map((c) => c.topologyKey);
  return constraints.map((constraint) => {
    const selector = extended(constraint, pod);
    const counts = new Map<string, number>();
    for (const { node, pods } of cluster) {
      const domain = ownValue(node.metadata.labels, constraint.topologyKey);
      if (domain === undefined || keys.some((key) => ownValue(node.metadata.labels, key) === undefined)) continue;
      if (!isCounted(constraint, pod, node)) continue;
      const matching = pods.filter(
        (p) => p.metadata.namespace === pod.metadata.namespace && !isTerminating(p) && matchesSelector(selector, p.metadata.labels),
      );
      counts.set(domain, (counts.get(domain) ?? 0) + matching.length);
    }
    const least = counts.size < (constraint.minDomains ?? 1) ? 0 : Math.min(...counts.values());
    const self = matchesSelector(selector, pod.metadata.labels) ? 1 : 0;
    return (node) => {
      const domain = ownValue(node.metadata.labels, constraint.topologyKey);
      if (domain === undefined) return "node(s) didn't match pod topology spread constraints (missing required label)";
      const skew = (counts.get(domain) ?? 0) + self - (Number.isFinite(least) ? least : 0);
      return skew > constraint.maxSkew ? "node(s) didn't match pod topology spread constraints" : undefined;
    };
  });
}

/** Whether the inclusion policies of the constraint count the pods of the node. */
export function isCounted(
  { nodeAffinityPolicy, nodeTaintsPolicy }: Pick<TopologySpreadConstraint, "nodeAffinityPolicy" | "nodeTaintsPolicy">,
  { spec }: Pod,
  node: Node,
): boolean {
  if (nodeAffinityPolicy !== "Ignore" && !selectsNode(spec, node)) return false;
  return nodeTaintsPolicy !== "Honor" || untolerated(spec, node.spec.taints) === undefined;
}

function affinityRules(pod: Pod, cluster: readonly PlacedPods[], namespaceLabels: (n: string) => Readonly<Record<string, string>>): Rule[] {
  const rules: Rule[] = [];
  const domains = (term: PodAffinityTerm, owner: Pod): ReadonlySet<string> => {
    const found = new Set<string>();
    for (const { node, pods } of cluster) {
      const domain = ownValue(node.metadata.labels, term.topologyKey);
      if (domain !== undefined && !found.has(domain) && pods.some((p) => selectsPod(term, owner, p, namespaceLabels))) found.add(domain);
    }
    return found;
  };
  const { podAffinity, podAntiAffinity } = pod.spec.affinity ?? {};
  const required = podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const wanted = required.map((term) => ({ term, found: domains(term, pod) }));
  // The first pod of a group with affinity to itself would wait for ever, so it may start a domain where the keys
  // exist.
  const first = wanted.every(({ term, found }) => found.size === 0 && selectsPod(term, pod, pod, namespaceLabels));
  for (const { term, found } of wanted) {
    rules.push((node) => {
      const domain = ownValue(node.metadata.labels, term.topologyKey);
      return domain !== undefined && (first || found.has(domain)) ? undefined : "node(s) didn't match pod affinity rules";
    });
  }
  for (const term of podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) {
    const taken = domains(term, pod);
    rules.push((node) =>
      taken.has(ownValue(node.metadata.labels, term.topologyKey) ?? "\0") ? "node(s) didn't match pod anti-affinity rules" : undefined,
    );
  }
  const forbidden = new Set<string>();
  for (const { node, pods } of cluster) {
    for (const other of pods) {
      for (const term of other.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) {
        const domain = ownValue(node.metadata.labels, term.topologyKey);
        if (domain !== undefined && selectsPod(term, other, pod, namespaceLabels)) forbidden.add(`${term.topologyKey}=${domain}`);
      }
    }
  }
  if (forbidden.size > 0) {
    rules.push((node) =>
      Object.entries(node.metadata.labels ?? {}).some(([key, value]) => forbidden.has(`${key}=${value}`))
        ? "node(s) didn't satisfy existing pods anti-affinity rules"
        : undefined,
    );
  }
  return rules;
}

/** Whether an affinity term of `owner` selects `pod`. */
export function selectsPod(
  term: PodAffinityTerm,
  owner: Pod,
  pod: Pod,
  namespaceLabels: (n: string) => Readonly<Record<string, string>>,
): boolean {
  const namespace = pod.metadata.namespace ?? "default";
  const named = term.namespaces ?? [];
  const own = named.length === 0 && term.namespaceSelector === undefined && namespace === (owner.metadata.namespace ?? "default");
  const selected = term.namespaceSelector !== undefined && matchesSelector(term.namespaceSelector, namespaceLabels(namespace));
  return (own || named.includes(namespace) || selected) && matchesSelector(extended(term, owner), pod.metadata.labels);
}

/** The selector with the owner's own values of `matchLabelKeys`, and without those of `mismatchLabelKeys`. */
export function extended(
  term: Pick<TopologySpreadConstraint, "labelSelector" | "matchLabelKeys"> & { readonly mismatchLabelKeys?: readonly string[] },
  owner: Pod,
): LabelSelector | undefined {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  if (!labelSelector || matchLabelKeys.length + mismatchLabelKeys.length === 0) return labelSelector;
  const requirement = (operator: "In" | "NotIn") => (key: string) => {
    const value = ownValue(owner.metadata.labels, key);
    return value === undefined ? [] : [{ key, operator, values: [value] }];
  };
  return {
    ...labelSelector,
    matchExpressions: [
      ...(labelSelector.matchExpressions ?? []),
      ...matchLabelKeys.flatMap(requirement("In")),
      ...mismatchLabelKeys.flatMap(requirement("NotIn")),
    ],
  };
}
