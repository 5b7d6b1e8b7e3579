import { ownValue } from "#core/lib/own-value.ts";
import type { LabelSelector } from "#core/model/kubernetes.ts";
import type { Node } from "#core/model/node.ts";
import type { Pod, PodAffinityTerm, TopologySpreadConstraint } from "#core/model/pod.ts";
import { matchesSelector } from "#manifests/selectors.ts";
import { type Amounts, podRequests } from "../quantity.ts";
import { isTerminating } from "./actor.ts";
import { meetsTerm, tolerates } from "./placement.ts";
import { type Room, scoredRequests } from "./rooms.ts";
import { extended, isCounted, selectsPod } from "./topology.ts";

/** Each plugin scores a node from 0 to this. */
const MAX_SCORE = 100;

/**
 * The weights of the default profile (kubernetes: pkg/scheduler/apis/config/v1/default_plugins.go, getDefaultPlugins).
 */
const WEIGHTS = { taints: 3, nodeAffinity: 2, spread: 2, podAffinity: 2, leastAllocated: 1, balanced: 1 } as const;

const HOSTNAME = "kubernetes.io/hostname";
const ZONE = "topology.kubernetes.io/zone";

/**
 * The spread of a pod that has no constraints of its own (kubernetes:
 * pkg/scheduler/framework/plugins/podtopologyspread/plugin.go, systemDefaultConstraints).
 */
const SYSTEM_DEFAULTS = [
  { topologyKey: HOSTNAME, maxSkew: 3 },
  { topologyKey: ZONE, maxSkew: 5 },
];

/** What the scores of a pod need besides the nodes. */
interface ScoreContext {
  readonly namespaceLabels: (namespace: string) => Readonly<Record<string, string>>;
  /** The selectors of the pod's Services and controller: a default spread counts the pods that all of them select. */
  readonly ownSelectors: readonly LabelSelector[];
}

/**
 * The score of each node that fits the pod, in their order: the weighted sum of the plugins' scores, each in whole
 * points from 0 to 100. ImageLocality is left out, because nodes of the lab hold no images.
 */
export function scores(pod: Pod, fitting: readonly Room[], cluster: readonly Room[], context: ScoreContext): readonly number[] {
  const nodes = fitting.map(({ node }) => node);
  const parts: readonly (readonly [number, readonly number[]])[] = [
    [WEIGHTS.taints, shares(nodes.map((node) => softTaints(pod, node))).map((share) => MAX_SCORE - share)],
    [WEIGHTS.nodeAffinity, shares(nodes.map((node) => nodePreference(pod, node)))],
    [WEIGHTS.spread, spreadScores(pod, fitting, cluster, context.ownSelectors)],
    [WEIGHTS.podAffinity, podAffinityScores(pod, nodes, cluster, context)],
    [WEIGHTS.leastAllocated, leastAllocated(pod, fitting)],
    [WEIGHTS.balanced, balancedAllocation(pod, fitting)],
  ];
  return fitting.map((_, i) => parts.reduce((sum, [weight, points]) => sum + weight * (points[i] ?? 0), 0));
}

/** Each amount as its share of the largest one, in points; zeros when all are zero. */
function shares(amounts: readonly number[]): readonly number[] {
  const largest = Math.max(0, ...amounts);
  return amounts.map((amount) => (largest === 0 ? 0 : Math.trunc((MAX_SCORE * amount) / largest)));
}

const softTaints = ({ spec }: Pod, node: Node): number =>
  (node.spec.taints ?? []).filter((taint) => taint.effect === "PreferNoSchedule" && !tolerates(spec.tolerations, taint)).length;

const nodePreference = ({ spec }: Pod, node: Node): number =>
  (spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [])
    .filter(({ preference }) => meetsTerm(preference, node))
    .reduce((sum, { weight }) => sum + weight, 0);

/**
 * Soft topology spread. A node's cost is the sum, over the constraints, of the matching pods of its domain times
 * ln(domains + 2), plus maxSkew - 1; the cheapest node has the most points (kubernetes:
 * pkg/scheduler/framework/plugins/podtopologyspread/scoring.go, PodTopologySpread.NormalizeScore).
 */
function spreadScores(
  pod: Pod,
  fitting: readonly Room[],
  cluster: readonly Room[],
  ownSelectors: readonly LabelSelector[],
): readonly number[] {
  const own = pod.spec.topologySpreadConstraints ?? [];
  const soft = own.filter((c) => c.whenUnsatisfiable === "ScheduleAnyway");
  const constraints: readonly SoftSpread[] =
    own.length > 0
      ? soft.map((c) => ({ ...c, matches: (labels) => matchesSelector(extended(c, pod), labels) }))
      : ownSelectors.length === 0
        ? []
        : SYSTEM_DEFAULTS.map((c) => ({ ...c, matches: (labels) => ownSelectors.every((s) => matchesSelector(s, labels)) }));
  if (constraints.length === 0) return fitting.map(() => 0);
  // A pod with constraints of its own ignores the nodes that lack one of their keys; the defaults do not.
  const isScored = ({ node }: Room): boolean =>
    own.length === 0 || constraints.every(({ topologyKey }) => ownValue(node.metadata.labels, topologyKey) !== undefined);
  const scored = fitting.filter(isScored);
  const counted = cluster.filter(isScored);
  const costOf = constraints.map((c) => spreadCost(c, pod, scored, counted));
  const costs = new Map(scored.map((room) => [room, Math.round(costOf.reduce((sum, cost) => sum + cost(room), 0))]));
  const [lowest, highest] = [Math.min(...costs.values()), Math.max(0, ...costs.values())];
  return fitting.map((room) => {
    const cost = costs.get(room);
    if (cost === undefined) return 0;
    return highest === 0 ? MAX_SCORE : Math.trunc((MAX_SCORE * (highest + lowest - cost)) / highest);
  });
}

interface SoftSpread extends Pick<TopologySpreadConstraint, "topologyKey" | "maxSkew" | "nodeAffinityPolicy" | "nodeTaintsPolicy"> {
  matches(labels: Readonly<Record<string, string>> | undefined): boolean;
}

function spreadCost(constraint: SoftSpread, pod: Pod, scored: readonly Room[], counted: readonly Room[]): (room: Room) => number {
  const { topologyKey, maxSkew } = constraint;
  const matching = ({ pods }: Room): number =>
    pods.filter((p) => p.metadata.namespace === pod.metadata.namespace && !isTerminating(p) && constraint.matches(p.metadata.labels))
      .length;
  const domainOf = ({ node }: Room): string | undefined => ownValue(node.metadata.labels, topologyKey);
  // Each node is its own domain of the host name, and nodes without the key are one domain together.
  const domains = topologyKey === HOSTNAME ? scored.length : new Set(scored.map(domainOf)).size;
  const counts = new Map<string | undefined, number>();
  if (topologyKey !== HOSTNAME) {
    for (const room of counted) {
      if (isCounted(constraint, pod, room.node)) counts.set(domainOf(room), (counts.get(domainOf(room)) ?? 0) + matching(room));
    }
  }
  return (room) => {
    if (domainOf(room) === undefined) return 0;
    const count = topologyKey === HOSTNAME ? matching(room) : (counts.get(domainOf(room)) ?? 0);
    return count * Math.log(domains + 2) + maxSkew - 1;
  };
}

/**
 * Preferred affinity between pods, in both directions. A placed pod with required affinity to the pod adds one
 * (kubernetes: pkg/scheduler/framework/plugins/interpodaffinity/scoring.go, InterPodAffinity.PreScore).
 */
function podAffinityScores(
  pod: Pod,
  nodes: readonly Node[],
  cluster: readonly Room[],
  { namespaceLabels }: ScoreContext,
): readonly number[] {
  /** The sum of weights by domain, as "key=value". */
  const sums = new Map<string, number>();
  const count = (node: Node, terms: readonly WeightedTerm[], owner: Pod, selected: Pod): void => {
    for (const { term, weight } of terms) {
      const value = ownValue(node.metadata.labels, term.topologyKey);
      if (value === undefined || !selectsPod(term, owner, selected, namespaceLabels)) continue;
      const domain = `${term.topologyKey}=${value}`;
      sums.set(domain, (sums.get(domain) ?? 0) + weight);
    }
  };
  const own = preferences(pod);
  for (const { node, pods } of cluster) {
    for (const placed of pods) {
      count(node, own, pod, placed);
      const required = placed.spec.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
      count(node, [...preferences(placed), ...required.map((term) => ({ term, weight: 1 }))], placed, pod);
    }
  }
  const raw = nodes.map(({ metadata: { labels = {} } }) =>
    Object.entries(labels).reduce((sum, [key, value]) => sum + (sums.get(`${key}=${value}`) ?? 0), 0),
  );
  const [lowest, highest] = [Math.min(...raw), Math.max(...raw)];
  return raw.map((sum) => (highest === lowest ? 0 : Math.trunc(MAX_SCORE * ((sum - lowest) / (highest - lowest)))));
}

interface WeightedTerm {
  readonly term: PodAffinityTerm;
  readonly weight: number;
}

/** The preferred terms of a pod; those of anti-affinity weigh less than nothing. */
function preferences({ spec: { affinity } }: Pod): readonly WeightedTerm[] {
  const towards = affinity?.podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const away = affinity?.podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return [
    ...towards.map(({ podAffinityTerm, weight }) => ({ term: podAffinityTerm, weight })),
    ...away.map(({ podAffinityTerm, weight }) => ({ term: podAffinityTerm, weight: -weight })),
  ];
}

const RESOURCES = ["cpu", "memory"] as const;

/** An amount in the whole units of kube-scheduler: thousandths of a core, bytes. */
const units = (amounts: Amounts, name: (typeof RESOURCES)[number]): number =>
  Math.round((amounts.get(name) ?? 0) * (name === "cpu" ? 1_000 : 1));

/** NodeResourcesFit with the strategy LeastAllocated: the mean of the free shares of cpu and memory. */
function leastAllocated(pod: Pod, fitting: readonly Room[]): readonly number[] {
  const requests = scoredRequests(pod);
  return fitting.map(({ allocatable, scored }) => {
    const free = RESOURCES.flatMap((name) => {
      const all = units(allocatable, name);
      const left = all - units(scored, name) - units(requests, name);
      return all === 0 ? [] : [left < 0 ? 0 : Math.trunc((left * MAX_SCORE) / all)];
    });
    return free.length === 0 ? 0 : Math.trunc(free.reduce((sum, share) => sum + share, 0) / free.length);
  });
}

/**
 * NodeResourcesBalancedAllocation: how much nearer the pod brings the used shares of cpu and memory to each other. 75
 * points are no change. A pod without requests has no score (kubernetes:
 * pkg/scheduler/framework/plugins/noderesources/balanced_allocation.go, balancedResourceScorer).
 */
function balancedAllocation(pod: Pod, fitting: readonly Room[]): readonly number[] {
  const requests = podRequests(pod);
  if (RESOURCES.every((name) => units(requests, name) === 0)) return fitting.map(() => 0);
  return fitting.map(({ allocatable, used }) => {
    const balance = (extra: Amounts): number => {
      const [cpu, memory] = RESOURCES.flatMap((name) => {
        const all = units(allocatable, name);
        return all === 0 ? [] : [Math.min(1, (units(used, name) + units(extra, name)) / all)];
      });
      const deviation = cpu === undefined || memory === undefined ? 0 : Math.abs(cpu - memory) / 2;
      return Math.trunc((1 - deviation) * MAX_SCORE);
    };
    const gain = balance(requests) - balance(new Map());
    return MAX_SCORE / 2 + Math.trunc((MAX_SCORE / 2 + gain) / 2);
  });
}
