import type { Pod, PodSpec } from "../model/pod.ts";
import { type CostSettings, costSettingsOf, PRICE_TOLERANCE } from "../model/prices.ts";
import type { Snapshot } from "../model/snapshot.ts";
import { isActive, isDaemonSetPod, podKey, podUid } from "../pods/predicates.ts";
import { problemFor } from "./problem/problem.ts";
import type { PreferencePolicy } from "./rules/preferences.ts";
import { isSpread, type KeptRules, softRulesOf, withSoftRules } from "./rules/soft-rules.ts";
import { bestAttempt, planCost } from "./search.ts";

/** How much dearer than without them a plan may be for the sake of preferences, as a share of its cost. */
const DEFAULT_PREFERENCE_COST_SHARE = 0.1;

/**
 * Pods of one controller that are weighed. A rule that costs nothing for so many costs nothing for more; one that asks
 * for a node for each pod costs several times the plan already. No benchmark has tuned it.
 */
const MAX_SAMPLE = 30;

/** Controllers whose preferences are weighed, those with the most pods first; the others keep theirs. */
const MAX_GROUPS = 100;

/** Preferences that pods of one controller give up or loosen, because they would cost too much. */
export interface GivenUp {
  /** One of the pods, "namespace/name". */
  readonly example: string;
  readonly pods: number;
  /** Such as "the spread over kubernetes.io/hostname". */
  readonly rules: readonly string[];
  /** Such as "the spread over kubernetes.io/hostname to maxSkew 8". */
  readonly loosened: readonly string[];
  /** What keeping all preferences would add to the cost of the pods' nodes, as a share of it. */
  readonly costShare: number;
}

interface Weighed {
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
 * after another, while the plan costs little more. A spread that costs more gets a larger maxSkew, so that the pods are
 * still spread over as many domains as the share pays for.
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
    const { kept, costShare } = weigh(snapshot, pods, options);
    if (example === undefined) return [];
    const rules = softRulesOf(example.spec).filter((rule) => !kept.has(rule));
    const loosened = [...kept].flatMap(([rule, maxSkew]) => (maxSkew > 0 ? [`${rule} to maxSkew ${maxSkew}`] : []));
    if (rules.length + loosened.length === 0) return [];
    for (const pod of pods) specs.set(pod, withSoftRules(pod.spec, kept));
    return [{ example: podKey(example), pods: pods.length, rules, loosened, costShare }];
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

/** Which preferences of equal pods to keep, and what all of them would add to the cost. */
function weigh(snapshot: Snapshot, pods: readonly Pod[], options: WeighOptions): { readonly kept: KeptRules; readonly costShare: number } {
  const { preferenceCostShare: share = DEFAULT_PREFERENCE_COST_SHARE } = options;
  const rules = softRulesOf(pods[0]?.spec ?? {});
  const sample = [...pods].sort((a, b) => (podUid(a) < podUid(b) ? -1 : 1)).slice(0, MAX_SAMPLE);
  const costOfKeeping = (kept: KeptRules): number => freshCost(snapshot, sample, kept, options);
  const least = costOfKeeping(new Map());
  const most = least * (1 + share) + PRICE_TOLERANCE;
  const asStated = new Map(rules.map((rule) => [rule, 0]));
  const all = costOfKeeping(asStated);
  const costShare = least > 0 ? all / least - 1 : 0;
  if (all <= most) return { kept: asStated, costShare };
  const cheapestFirst = rules.map((rule) => ({ rule, cost: costOfKeeping(new Map([[rule, 0]])) })).sort((a, b) => a.cost - b.cost);
  const kept = new Map<string, number>();
  for (const { rule } of cheapestFirst) {
    const isCheap = (maxSkew: number): boolean => costOfKeeping(new Map([...kept, [rule, maxSkew]])) <= most;
    const maxSkew = [0, ...(isSpread(rule) ? largerSkews(sample.length) : [])].find(isCheap);
    if (maxSkew !== undefined) kept.set(rule, maxSkew);
  }
  return { kept, costShare };
}

/** 2, 4, 8 … below the number of pods: all pods may share a domain from there on. */
function largerSkews(pods: number): readonly number[] {
  return Array.from({ length: Math.ceil(Math.log2(Math.max(pods, 1))) }, (_, i) => 2 ** (i + 1)).filter((skew) => skew < pods);
}

/** What the nodes for pods alone would cost, USD per hour, with some of their preferences. */
function freshCost(snapshot: Snapshot, pods: readonly Pod[], kept: KeptRules, options: WeighOptions): number {
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
export function preferencesGivenUp({ example, pods, rules, loosened, costShare }: GivenUp): string {
  const who = pods === 1 ? `Pod ${example}` : `${pods} pods such as ${example}`;
  const s = pods === 1 ? "s" : "";
  const did = [
    ...(rules.length > 0 ? [`give${s} up ${rules.join(" and ")}`] : []),
    ...(loosened.length > 0 ? [`loosen${s} ${loosened.join(" and ")}`] : []),
  ];
  return `${who} ${did.join(" and ")}: all preferences would add ${Math.round(costShare * 100)} % to the cost of the nodes`;
}
