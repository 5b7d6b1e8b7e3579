import type { LabelSelector, LabelSelectorRequirement } from "../../model/kubernetes.ts";
import type { Pod, TopologySpreadConstraint } from "../../model/pod.ts";
import type { ReplicationController, Service, Workload } from "../../model/workloads.ts";
import { selects } from "../../pods/label-selector.ts";

/** The objects from which selectors are deduced. Only the selectors of workloads are read. */
export interface SelectorSources {
  readonly services: readonly Service[];
  readonly replicationControllers: readonly ReplicationController[];
  readonly replicaSets: readonly Workload[];
  readonly statefulSets: readonly Workload[];
}

/** The part of a selector that comes from the pod's controller. */
interface Contribution {
  readonly labels?: Readonly<Record<string, string>>;
  readonly expressions?: readonly LabelSelectorRequirement[];
}

/**
 * Pods as kube-scheduler will spread them. A pod without topologySpreadConstraints gets the cluster's default
 * constraints, with a deduced selector: the labels by which Services of its namespace select the pod, and the selector
 * of its ReplicationController, ReplicaSet or StatefulSet
 * (kubernetes: pkg/scheduler/framework/plugins/helper/spread.go, DefaultSelector). A pod with an empty deduced selector
 * gets no constraint. Pods that do not change are returned as the same objects.
 */
export function withDefaultConstraints(
  pods: readonly Pod[],
  constraints: readonly TopologySpreadConstraint[],
  sources: SelectorSources,
): readonly Pod[] {
  if (constraints.length === 0) return pods;
  const selectorOf = selectors(sources);
  // Pods of one workload share the constraints object, so that comparing pods is cheap.
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

/** Deduces the selector of a pod, once for all pods of one namespace, controller and set of labels. */
function selectors(sources: SelectorSources): (pod: Pod) => LabelSelector | undefined {
  // In the order of their names: of Services that disagree about a label, the last one decides.
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

/** Contributions of controllers by "apiVersion kind namespace/name". */
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
  // A Service without a selector selects nothing; one with an empty selector selects all pods and adds nothing.
  const selecting = services.filter(({ spec }) => spec.selector && selects({ matchLabels: spec.selector }, labels));
  const merged: Record<string, string> = Object.assign({}, ...selecting.map(({ spec }) => spec.selector), controller.labels);
  const matchLabels = Object.fromEntries(Object.entries(merged).sort(([a], [b]) => (a < b ? -1 : 1)));
  const matchExpressions = [...(controller.expressions ?? [])].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  const isEmpty = Object.keys(matchLabels).length + matchExpressions.length === 0;
  // An empty selector would count every pod of the namespace.
  return isEmpty ? undefined : { matchLabels, matchExpressions };
}
