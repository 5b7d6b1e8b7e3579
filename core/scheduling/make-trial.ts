import type { Pod } from "../model/pod.ts";
import type { Snapshot } from "../model/snapshot.ts";
import { podShadowPrices } from "./packing/pod-prices.ts";
import { nodeViews } from "./problem/node-view.ts";
import { pendingPods } from "./problem/pending-pods.ts";
import { problemFor } from "./problem/problem.ts";
import type { PreferencePolicy } from "./rules/preferences.ts";
import { TrialCluster } from "./trial-cluster.ts";

export interface TrialOptions {
  /** Names of nodes that may go, with the pods that would have to move. */
  readonly podsByNode: ReadonlyMap<string, readonly Pod[]>;
  /** Names of nodes that no pod may be moved to. */
  readonly closed: ReadonlySet<string>;
  /** What a new node counts as beside its instance, USD per hour. */
  readonly nodeHour?: number;
}

/** A cluster laid out for many questions about what could go. */
export interface ConsolidationTrial {
  readonly trialCluster: TrialCluster;
  /** USD per hour that the room of some of the pods in `homes` is worth on the cheapest machines for all of them together. */
  worthOf(pods: readonly Pod[]): number;
}

/** Lays a cluster out. */
export type MakeTrial = (snapshot: Snapshot, options: TrialOptions) => ConsolidationTrial;

/** Lays a snapshot out; its pending pods take what room there is before anything is moved. */
export function makeConsolidationTrial(
  snapshot: Snapshot,
  { podsByNode, closed, nodeHour }: TrialOptions,
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
    ...(nodeHour !== undefined && { nodeHour }),
  });
  const worths = podShadowPrices(problem);
  const worthByPod = new Map(problem.classes.flatMap(({ pods, index }) => pods.map((pod) => [pod, worths[index] ?? 0] as const)));
  return {
    trialCluster: new TrialCluster(problem, podsByNode, closed),
    worthOf: (pods) => pods.reduce((sum, pod) => sum + (worthByPod.get(pod) ?? 0), 0),
  };
}
