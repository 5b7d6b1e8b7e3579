import type { LabelSelector, LabelSelectorRequirement } from "../../model/kubernetes.ts";
import type { Pod, TopologySpreadConstraint } from "../../model/pod.ts";
import type { ReplicationController, Service, Workload } from "../../model/workloads.ts";
import { selects } from "../../pods/label-selector.ts";

/** What selectors are deduced from. Of workloads their selector alone is looked at. */
export interface SelectorSources {
  readonly services: readonly Service[];
  readonly replicationControllers: readonly ReplicationController[];
  readonly replicaSets: readonly Workload[];
  readonly statefulSets: readonly Workload[];
}

/** What a controller adds to the selector of its pods. */
interface Contribution {
  readonly labels?: Readonly<Record<string, string>>;
  readonly expressions?: readonly LabelSelectorRequirement[];
}

/**
 * Pods as kube-scheduler will spread them: those that say nothing about it themselves get the cluster's default constraints (scheduling.md §10), with
 * a selector deduced as its PodTopologySpread plugin deduces it (Kubernetes pkg/scheduler/framework/plugins/helper/spread.go): the labels that
 * Services in the namespace select the pod by, and the selector of its ReplicationController, ReplicaSet or StatefulSet. A pod for which that
 * comes to nothing is left as it is. All other pods come back as the same objects.
 */
export function withDefaultConstraints(
  pods: readonly Pod[],
  constraints: readonly TopologySpreadConstraint[],
  sources: SelectorSources,
): readonly Pod[] {
  if (constraints.length === 0) return pods;
  const selectorOf = selectors(sources);
  // Pods of one workload share their constraints, so that scheduling sees at a glance that they are alike.
  const bySelector = new Map<LabelSelector, readonly TopologySpreadConstraint[]>();
  return pods.map((pod) => {
    if ((pod.spec.topologySpreadConstraints ?? []).length > 0) return pod;
    const labelSelector = selectorOf(pod);
    if (labelSelector === undefined) return pod;
    const topologySpreadConstraints =
      bySelector.get(labelSelector) ?? constraints.map((constraint): TopologySpreadConstraint => ({ ...constraint, labelSelector }));
    bySelector.set(labelSelector, topologySpreadConstraints);
    return { ...pod, spec: { ...pod.spec, topologySpreadConstraints } };
  });
}

const namespaceOf = ({ metadata }: Pick<Pod, "metadata">): string => metadata.namespace ?? "default";

/** The deduced selector of a pod, worked out once for pods of one namespace, controller and set of labels. */
function selectors(sources: SelectorSources): (pod: Pod) => LabelSelector | undefined {
  // In the order of their names: where Services disagree about a label, the last has its way.
  const services = Map.groupBy([...sources.services].sort(byName), namespaceOf);
  const controllers = contributions(sources);
  const known = new Map<string, LabelSelector | undefined>();
  return (pod) => {
    const { labels = {}, ownerReferences = [] } = pod.metadata;
    const owner = ownerReferences.find(({ controller }) => controller === true);
    const controller = owner && `${owner.apiVersion} ${owner.kind} ${namespaceOf(pod)}/${owner.name}`;
    const key = JSON.stringify([namespaceOf(pod), controller, Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))]);
    if (!known.has(key)) known.set(key, deduced(labels, services.get(namespaceOf(pod)) ?? [], controllers.get(controller ?? "")));
    return known.get(key);
  };
}

function byName(a: Pick<Pod, "metadata">, b: Pick<Pod, "metadata">): number {
  return a.metadata.name < b.metadata.name ? -1 : 1;
}

/** By "apiVersion kind namespace/name". */
function contributions(sources: SelectorSources): ReadonlyMap<string, Contribution> {
  const found = new Map<string, Contribution>();
  for (const set of sources.replicationControllers) {
    found.set(`v1 ReplicationController ${namespaceOf(set)}/${set.metadata.name}`, { labels: set.spec.selector ?? {} });
  }
  for (const [kind, sets] of [
    ["ReplicaSet", sources.replicaSets],
    ["StatefulSet", sources.statefulSets],
  ] as const) {
    for (const set of sets) {
      found.set(`apps/v1 ${kind} ${namespaceOf(set)}/${set.metadata.name}`, { expressions: expressionsOf(set.spec.selector) });
    }
  }
  return found;
}

function expressionsOf(selector: LabelSelector | undefined): readonly LabelSelectorRequirement[] {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  const exact = Object.entries(matchLabels).map(([key, value]) => ({ key, operator: "In", values: [value] }) as const);
  return [...exact, ...matchExpressions];
}

function deduced(
  labels: Readonly<Record<string, string>>,
  services: readonly Service[],
  controller: Contribution = {},
): LabelSelector | undefined {
  // A Service without selector selects nothing; one whose selector is empty selects all and adds nothing.
  const selecting = services.filter(({ spec }) => spec.selector && selects({ matchLabels: spec.selector }, labels));
  const merged: Record<string, string> = Object.assign({}, ...selecting.map(({ spec }) => spec.selector), controller.labels);
  const matchLabels = Object.fromEntries(Object.entries(merged).sort(([a], [b]) => (a < b ? -1 : 1)));
  const matchExpressions = [...(controller.expressions ?? [])].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  const isEmpty = Object.keys(matchLabels).length + matchExpressions.length === 0;
  // An empty selector would count every pod of the namespace.
  return isEmpty ? undefined : { matchLabels, matchExpressions };
}
