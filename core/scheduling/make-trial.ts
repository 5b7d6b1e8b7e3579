import type { Pod } from "../model/pod.ts";
import { type CostSettings, costSettingsOf } from "../model/prices.ts";
import type { Snapshot } from "../model/snapshot.ts";
import { podShadowPrices } from "./packing/pod-prices.ts";
import { nodeViews } from "./problem/node-view.ts";
import { pendingPods } from "./problem/pending-pods.ts";
import { problemFor } from "./problem/problem.ts";
import type { PreferencePolicy } from "./rules/preferences.ts";
import { TrialCluster } from "./trial-cluster.ts";

/** What a trial cluster may change. */
interface TrialOptions extends CostSettings {
  /** Names of nodes that the trial may remove, with the pods that would have to move. */
  readonly podsByNode: ReadonlyMap<string, readonly Pod[]>;
  /** Names of nodes that no pod may be moved to. */
  readonly closed: ReadonlySet<string>;
}

/** A cluster laid out for many questions about which nodes could be removed. */
export interface ConsolidationTrial {
  readonly trialCluster: TrialCluster;
  /** Value of some of the pods in `podsByNode` at shadow prices of new nodes for all of them together, USD per hour. */
  worthOf(pods: readonly Pod[]): number;
}

/** Lays a snapshot out as a trial cluster; consolidation gets it as a parameter. */
export type MakeTrial = (snapshot: Snapshot, options: TrialOptions) => ConsolidationTrial;

/**
 * A trial of consolidation over a snapshot. Pending pods take free room first, before any node is removed.
 *
 *     const podsByNode = new Map([["n1", podsOfN1]]);
 *     const { trialCluster } = makeConsolidationTrial(snapshot, { podsByNode, closed: new Set() });
 *     trialCluster.tryEmpty("n1"); // true: other nodes have room for the pods of n1
 */
export function makeConsolidationTrial(
  snapshot: Snapshot,
  { podsByNode, closed, ...costs }: TrialOptions,
  policies: { readonly preferencePolicy?: PreferencePolicy; readonly minValuesPolicy?: "Strict" | "BestEffort" } = {},
): ConsolidationTrial {
  const pending = pendingPods(snapshot);
  const moving = [...podsByNode.values()].flat();
  const problem = problemFor(snapshot, nodeViews(snapshot), [...new Set([...moving, ...pending.pods, ...pending.virtual])], {
    policy: policies.preferencePolicy ?? "Respect",
    minValuesPolicy: policies.minValuesPolicy ?? "Strict",
    reservedMode: "fallback",
    excludeNodes: new Set(),
    settling: new Set(),
    moved: new Set(),
    virtual: new Set(pending.virtual),
    ...costSettingsOf(costs),
  });
  const prices = podShadowPrices(problem);
  const priceByPod = new Map(problem.classes.flatMap(({ pods, index }) => pods.map((pod) => [pod, prices[index] ?? 0] as const)));
  return {
    trialCluster: new TrialCluster(problem, podsByNode, closed),
    worthOf: (pods) => pods.reduce((sum, pod) => sum + (priceByPod.get(pod) ?? 0), 0),
  };
}
