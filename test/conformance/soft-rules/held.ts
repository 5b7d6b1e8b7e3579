import {
  anyTermHolds,
  labelOf,
  likesNode,
  nameOf,
  type RawJson,
  selectorMatches,
  tolerates,
} from "../../support/scheduling/judge-rules.ts";
import type { Placed, Placement } from "./play-plan.ts";

const HOSTNAME = "kubernetes.io/hostname";
const ZONE = "topology.kubernetes.io/zone";

/** The kinds of soft rules that are counted. */
export const SOFT_RULES = [
  "hosts",
  "zones",
  "other spreads",
  "nodes",
  "near pods",
  "away from pods",
  "PreferNoSchedule",
  "on several hosts",
  "in several zones",
] as const;
export type SoftRule = (typeof SOFT_RULES)[number];

/** Of the soft rules of the planned pods: how many hold, and how many there are; by kind. */
export type Held = ReadonlyMap<SoftRule, readonly [held: number, all: number]>;

/**
 * How far the soft rules of planned pods hold where the pods are, counted by pod and rule. A spread holds for a pod
 * when its domain has at most maxSkew pods more than the emptiest domain that the pod could use; on hosts that one is
 * empty, because a new host is always possible. A preferred term holds as kube-scheduler scores it. A node's
 * PreferNoSchedule taint counts for each pod that does not tolerate it, and for other pods of scenarios that have such
 * taints. The last two kinds count controllers whose pods prefer to be apart: those that the loss of one host (or zone)
 * does not end.
 */
export function softRulesHeld(scenario: RawJson, planned: ReadonlySet<string>, { placed }: Placement): Held {
  const sums = new Map<SoftRule, readonly [number, number]>();
  const count = (rule: SoftRule, holds: boolean): void => {
    const [held, all] = sums.get(rule) ?? [0, 0];
    sums.set(rule, [held + (holds ? 1 : 0), all + 1]);
  };
  const hasSoftTaints = JSON.stringify([scenario.nodePools, scenario.nodes]).includes('"PreferNoSchedule"');
  const domains = new Map<string, ReadonlySet<string>>();
  for (const one of placed) {
    if (!planned.has(nameOf(one.pod))) continue;
    const { topologySpreadConstraints = [], affinity = {}, tolerations } = one.pod.spec;
    for (const rule of topologySpreadConstraints) {
      if (rule.whenUnsatisfiable !== "ScheduleAnyway") continue;
      const known = domains.get(rule.topologyKey) ?? domainsOf(scenario, rule.topologyKey, placed);
      domains.set(rule.topologyKey, known);
      const kind = rule.topologyKey === HOSTNAME ? "hosts" : rule.topologyKey === ZONE ? "zones" : "other spreads";
      count(kind, spreadHolds(one, rule, placed, known));
    }
    const { nodeAffinity, podAffinity, podAntiAffinity } = affinity;
    for (const { preference } of nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [])
      count("nodes", anyTermHolds([preference], one.labels));
    for (const { podAffinityTerm } of podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [])
      count("near pods", isBeside(one, podAffinityTerm, placed, scenario));
    for (const { podAffinityTerm } of podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [])
      count("away from pods", !isBeside(one, podAffinityTerm, placed, scenario));
    if (hasSoftTaints)
      count("PreferNoSchedule", !one.taints.some((taint) => taint.effect === "PreferNoSchedule" && !tolerates(tolerations, taint)));
  }
  for (const [rule, key] of [
    ["on several hosts", HOSTNAME],
    ["in several zones", ZONE],
  ] as const) {
    const scattered = placed.filter(({ pod }) => planned.has(nameOf(pod)) && wantsApart(pod, key));
    for (const pods of Map.groupBy(scattered, ({ pod }) => pod.metadata.ownerReferences?.[0]?.uid ?? nameOf(pod)).values()) {
      if (pods.length > 1) count(rule, new Set(pods.map(({ labels }) => labelOf(labels, key))).size > 1);
    }
  }
  return sums;
}

/** Whether a pod prefers that its domain does not hold all pods of its kind. */
function wantsApart({ spec: { topologySpreadConstraints = [], affinity } }: RawJson, key: string): boolean {
  const apart = affinity?.podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return (
    topologySpreadConstraints.some((rule: RawJson) => rule.topologyKey === key && rule.whenUnsatisfiable === "ScheduleAnyway") ||
    apart.some(({ podAffinityTerm }: RawJson) => podAffinityTerm.topologyKey === key)
  );
}

/** The values that a node of the scenario may have for a label. */
function domainsOf({ instanceTypes }: RawJson, key: string, placed: readonly Placed[]): ReadonlySet<string> {
  const offered = instanceTypes.flatMap(({ offerings, requirements }: RawJson) => {
    if (key === ZONE) return offerings.map(({ zone }: RawJson) => zone);
    if (key === "karpenter.sh/capacity-type") return offerings.map(({ capacityType }: RawJson) => capacityType);
    return requirements.flatMap((one: RawJson) => (one.key === key && one.operator === "In" ? one.values : []));
  });
  return new Set([...offered, ...placed.flatMap(({ labels }) => labelOf(labels, key) ?? [])]);
}

function spreadHolds({ pod, labels }: Placed, rule: RawJson, placed: readonly Placed[], domains: ReadonlySet<string>): boolean {
  const { topologyKey, maxSkew, labelSelector, matchLabelKeys = [] } = rule;
  const own = labelOf(labels, topologyKey);
  if (own === undefined) return false;
  const counts = new Map<string, number>();
  for (const other of placed) {
    const domain = labelOf(other.labels, topologyKey);
    if (domain === undefined || other.pod.metadata.namespace !== pod.metadata.namespace) continue;
    if (!selectorMatches(labelSelector, other.pod.metadata.labels)) continue;
    if (matchLabelKeys.some((key: string) => other.pod.metadata.labels?.[key] !== pod.metadata.labels?.[key])) continue;
    counts.set(domain, (counts.get(domain) ?? 0) + 1);
  }
  const usable = [...domains].filter((domain) => likesNode(pod.spec, { ...labels, [topologyKey]: domain }));
  const fewest = topologyKey === HOSTNAME ? 0 : Math.min(...usable.map((domain) => counts.get(domain) ?? 0));
  return (counts.get(own) ?? 0) - fewest <= maxSkew;
}

/** Whether another pod that the term selects is in the same domain. */
function isBeside(one: Placed, term: RawJson, placed: readonly Placed[], scenario: RawJson): boolean {
  const { topologyKey, labelSelector, namespaces = [], namespaceSelector } = term;
  const domain = labelOf(one.labels, topologyKey);
  const labelsOf = (namespace: string): RawJson =>
    scenario.namespaces?.find(({ metadata }: RawJson) => metadata.name === namespace)?.metadata.labels ?? {};
  const isIn = (namespace: string): boolean =>
    namespaces.includes(namespace) ||
    (namespaceSelector
      ? selectorMatches(namespaceSelector, labelsOf(namespace))
      : namespaces.length === 0 && namespace === one.pod.metadata.namespace);
  return (
    domain !== undefined &&
    placed.some(
      (other) =>
        other.pod !== one.pod &&
        labelOf(other.labels, topologyKey) === domain &&
        isIn(other.pod.metadata.namespace) &&
        selectorMatches(labelSelector, other.pod.metadata.labels),
    )
  );
}
