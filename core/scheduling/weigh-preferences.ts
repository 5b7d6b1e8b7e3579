import type { Pod, PodSpec } from "../model/pod.ts";
import { type CostSettings, costSettingsOf, PRICE_TOLERANCE } from "../model/prices.ts";
import type { Snapshot } from "../model/snapshot.ts";
import { isActive, isDaemonSetPod, podKey, podUid } from "../pods/predicates.ts";
import { problemFor } from "./problem/problem.ts";
import type { PreferencePolicy } from "./rules/preferences.ts";
import { softRulesOf, withSoftRules } from "./rules/soft-rules.ts";
import { bestAttempt, planCost } from "./search.ts";

/** How much dearer than without them a plan may be for the sake of preferences, as a share of its cost. */
export const DEFAULT_PREFERENCE_COST_SHARE = 0.1;

/**
 * Pods of one controller that are weighed. A rule that costs nothing for so many costs nothing for more; one that asks
 * for a node for each pod costs several times the plan already. No benchmark has tuned it.
 */
const MAX_SAMPLE = 30;

/** Controllers whose preferences are weighed, those with the most pods first; the others keep theirs. */
const MAX_GROUPS = 100;

/** Preferences that pods of one controller give up, because they would cost too much. */
export interface GivenUp {
  /** One of the pods, "namespace/name". */
  readonly example: string;
  readonly pods: number;
  /** Such as "the spread over kubernetes.io/hostname". */
  readonly rules: readonly string[];
  /** What keeping all preferences would add to the cost of the pods' nodes, as a share of it. */
  readonly costShare: number;
}

export interface Weighed {
  readonly snapshot: Snapshot;
  readonly givenUp: readonly GivenUp[];
}

/** What a run may change. */
export interface WeighOptions extends CostSettings {
  /** Default "Respect". */
  readonly preferencePolicy?: PreferencePolicy;
  /** DEFAULT_PREFERENCE_COST_SHARE unless set. */
  readonly preferenceCostShare?: number;
}

/**
 * The snapshot without the preferences that cost too much: ScheduleAnyway spreads and preferred affinity. Other
 * policies than "Weigh" change nothing. Pods of one controller are planned as if they were alone in a cluster without
 * nodes, without and with their preferences. They keep all when that costs little more; else the cheapest ones, one
 * after another, while the plan costs little more.
 *
 * What a preference is worth depends on the pods of its controller and on prices, not on which of them wait or which
 * nodes there are. So provisioning and disruption always agree, and a node that was bought for a preference stays.
 *
 *     weighPreferences(snapshot, options).givenUp; // [{ example: "default/web-1", pods: 30, … }]
 */
export function weighPreferences(snapshot: Snapshot, options: WeighOptions = {}): Weighed {
  if (options.preferencePolicy !== "Weigh") return { snapshot, givenUp: [] };
  const groups = [...Map.groupBy([...snapshot.pods, ...(snapshot.virtualPods ?? [])].filter(isWeighed), groupKey).values()];
  const largest = groups.sort((a, b) => b.length - a.length).slice(0, MAX_GROUPS);
  const specs = new Map<Pod, PodSpec>();
  const givenUp = largest.flatMap((pods): GivenUp[] => {
    const [example] = pods;
    const { kept, dropped, costShare } = weigh(snapshot, pods, options);
    if (example === undefined || dropped.length === 0) return [];
    for (const pod of pods) specs.set(pod, withSoftRules(pod.spec, kept));
    return [{ example: podKey(example), pods: pods.length, rules: dropped, costShare }];
  });
  if (givenUp.length === 0) return { snapshot, givenUp };
  const changed = (pods: readonly Pod[]): readonly Pod[] =>
    pods.map((pod) => {
      const spec = specs.get(pod);
      return spec ? { ...pod, spec } : pod;
    });
  return {
    snapshot: { ...snapshot, pods: changed(snapshot.pods), ...(snapshot.virtualPods && { virtualPods: changed(snapshot.virtualPods) }) },
    givenUp,
  };
}

/** Whether a pod has preferences, and may be placed by a plan now or later. */
function isWeighed(pod: Pod): boolean {
  return isActive(pod) && !isDaemonSetPod(pod) && softRulesOf(pod.spec).length > 0;
}

/** Pods of one controller with equal rules. */
function groupKey(pod: Pod): string {
  const { metadata, spec } = pod;
  const controller = metadata.ownerReferences?.find((owner) => owner.controller === true)?.uid ?? podUid(pod);
  return JSON.stringify([metadata.namespace ?? "default", controller, spec.affinity, spec.topologySpreadConstraints]);
}

/** Which preferences of equal pods to keep. */
function weigh(snapshot: Snapshot, pods: readonly Pod[], options: WeighOptions) {
  const { preferenceCostShare: share = DEFAULT_PREFERENCE_COST_SHARE } = options;
  const rules = softRulesOf(pods[0]?.spec ?? {});
  const sample = [...pods].sort((a, b) => (podUid(a) < podUid(b) ? -1 : 1)).slice(0, MAX_SAMPLE);
  const costOfKeeping = (kept: Iterable<string>): number => freshCost(snapshot, sample, new Set(kept), options);
  const least = costOfKeeping([]);
  const most = least * (1 + share) + PRICE_TOLERANCE;
  const all = costOfKeeping(rules);
  const costShare = least > 0 ? all / least - 1 : 0;
  if (all <= most) return { kept: new Set(rules), dropped: [], costShare };
  const cheapestFirst = rules.map((rule) => ({ rule, cost: costOfKeeping([rule]) })).sort((a, b) => a.cost - b.cost);
  const kept = new Set<string>();
  for (const { rule } of cheapestFirst) if (costOfKeeping([...kept, rule]) <= most) kept.add(rule);
  return { kept, dropped: rules.filter((rule) => !kept.has(rule)), costShare };
}

/** What the nodes for pods alone would cost, USD per hour, with some of their preferences. */
function freshCost(snapshot: Snapshot, pods: readonly Pod[], kept: ReadonlySet<string>, options: WeighOptions): number {
  const waiting = pods.map(({ metadata, spec: { nodeName: _, ...spec } }) => ({ metadata, spec: withSoftRules(spec, kept) }));
  const empty = { ...snapshot, nodes: [], nodeClaims: [], pods: [], virtualPods: [], nominated: new Map(), disrupting: new Set<string>() };
  const problem = problemFor(empty, [], waiting, {
    ...{ policy: "Respect", minValuesPolicy: "BestEffort", reservedMode: "fallback" },
    ...{ excludeNodes: new Set(), settling: new Set(), moved: new Set() },
    ...costSettingsOf(options),
  });
  return planCost(bestAttempt(problem, "quick"));
}

/** What was given up, as a sentence. */
export function preferencesGivenUp({ example, pods, rules, costShare }: GivenUp): string {
  const who = pods === 1 ? `Pod ${example} gives` : `${pods} pods such as ${example} give`;
  return `${who} up ${rules.join(" and ")}: all preferences would add ${Math.round(costShare * 100)} % to the cost of the nodes`;
}
