import type { Pod } from "../model/pod.ts";
import type { Snapshot } from "../model/snapshot.ts";
import { podWorths } from "./packing/pod-prices.ts";
import { nodeViews } from "./problem/node-view.ts";
import { pendingPods } from "./problem/pending-pods.ts";
import { worldOf } from "./problem/problem.ts";
import type { PreferencePolicy } from "./rules/preferences.ts";
import { Rearrangement } from "./trial-cluster.ts";

export interface SketchOptions {
  /** Names of nodes that may go, with the pods that would have to move. */
  readonly homes: ReadonlyMap<string, readonly Pod[]>;
  /** Names of nodes that no pod may be moved to. */
  readonly closed: ReadonlySet<string>;
  /** What a new node counts as beside its instance, USD per hour. */
  readonly nodeHour?: number;
}

/** A cluster laid out for many questions about what could go. */
export interface Sketch {
  readonly rearrangement: Rearrangement;
  /** USD per hour that the room of some of the pods in `homes` is worth on the cheapest machines for all of them together. */
  worthOf(pods: readonly Pod[]): number;
}

/** Lays a cluster out. */
export type LayOut = (snapshot: Snapshot, options: SketchOptions) => Sketch;

/** Lays a snapshot out; its pending pods take what room there is before anything is moved. */
export function sketchOf(
  snapshot: Snapshot,
  { homes, closed, nodeHour }: SketchOptions,
  policies: { readonly preferencePolicy?: PreferencePolicy; readonly minValuesPolicy?: "Strict" | "BestEffort" } = {},
): Sketch {
  const pending = pendingPods(snapshot);
  const moving = [...homes.values()].flat();
  const world = worldOf(snapshot, nodeViews(snapshot), [...new Set([...moving, ...pending.pods, ...pending.virtual])], {
    policy: policies.preferencePolicy ?? "Respect",
    minValuesPolicy: policies.minValuesPolicy ?? "Strict",
    reservedMode: "fallback",
    excludeNodes: new Set(),
    settling: new Set(),
    moved: new Set(),
    virtual: new Set(pending.virtual),
    ...(nodeHour !== undefined && { nodeHour }),
  });
  const worths = podWorths(world);
  const worthByPod = new Map(world.classes.flatMap(({ pods, index }) => pods.map((pod) => [pod, worths[index] ?? 0] as const)));
  return {
    rearrangement: new Rearrangement(world, homes, closed),
    worthOf: (pods) => pods.reduce((sum, pod) => sum + (worthByPod.get(pod) ?? 0), 0),
  };
}
