import type { Plan } from "../model/plan.ts";
import type { Pod } from "../model/pod.ts";
import type { Snapshot } from "../model/snapshot.ts";
import { podKey, podUid } from "../pods/predicates.ts";
import { assembleClaim } from "./claims/assemble.ts";
import { placeWithHeadroom } from "./headroom.ts";
import { nodeViews } from "./problem/node-view.ts";
import { pendingPods } from "./problem/pending-pods.ts";
import { problemFor } from "./problem/problem.ts";
import { Explainer } from "./reasons/explain.ts";
import type { PreferencePolicy } from "./rules/preferences.ts";
import { bestAttempt, type Effort } from "./search.ts";

export { claimRequirements } from "./claims/assemble.ts";
export { pendingPods } from "./problem/pending-pods.ts";

/** What a caller may change about a run; provisioning changes nothing, disruption thinks nodes away. */
export interface SolveOptions {
  /** "Ignore" drops preferred terms and ScheduleAnyway spreads. Default "Respect". */
  readonly preferencePolicy?: PreferencePolicy;
  /** "BestEffort" opens a claim even when too few types are left for minValues. Default "Strict". */
  readonly minValuesPolicy?: "Strict" | "BestEffort";
  /** Names of nodes to think away: candidates of a disruption. Their other pods vanish with them. */
  readonly excludeNodes?: ReadonlySet<string>;
  /** Pods to place besides the pending ones: what runs on the candidates and must go on. */
  readonly extraPods?: readonly Pod[];
  /** Names of nodes that `extraPods` may not be moved to, because pods have just changed there (consolidateAfter). Pending pods may go there. */
  readonly settling?: ReadonlySet<string>;
  /** What a new node counts as beside its instance, USD per hour: its volume unless given. More makes for fewer, larger nodes. */
  readonly nodeHour?: number;
  /** How long to look for a cheap plan. Default "full". */
  readonly effort?: Effort;
  /** "strict" (provisioning) defers pods for which a reservation is taken; "fallback" (disruption) buys elsewhere. Default "strict". */
  readonly reservedMode?: "strict" | "fallback";
}

/**
 * Decides where pending pods go: on existing nodes, on nodes that are on their way, or on new ones. Pure; the same snapshot in any order
 * gives the same plan. Every pod is placed once or explained in `podErrors`.
 */
export function solve(snapshot: Snapshot, options: SolveOptions = {}): Plan {
  const pending = pendingPods(snapshot);
  // A pod that must leave anyway is not moved by choice, though a caller may name it again.
  const pods = [...new Map([...(options.extraPods ?? []), ...pending.pods].map((pod) => [podUid(pod), pod])).values()];
  const isForced = new Set([...pending.pods, ...pending.virtual]);
  const moved = new Set((options.settling?.size ?? 0) === 0 ? [] : pods.filter((pod) => !isForced.has(pod)));
  const { attempt, settled, deferred } = placeWithHeadroom(snapshot, pods, pending.virtual, (seen, real, virtual) =>
    bestAttempt(
      problemFor(seen, nodeViews(seen), [...real, ...virtual], {
        policy: options.preferencePolicy ?? "Respect",
        minValuesPolicy: options.minValuesPolicy ?? "Strict",
        reservedMode: options.reservedMode ?? "strict",
        excludeNodes: options.excludeNodes ?? new Set(),
        settling: options.settling ?? new Set(),
        moved,
        virtual: new Set(virtual),
        ...(options.nodeHour !== undefined && { nodeHour: options.nodeHour }),
      }),
      options.effort ?? "full",
    ),
  );
  const podErrors: Record<string, string> = {};
  for (const { pod, reason } of pending.ignored) if (reason !== "") podErrors[podKey(pod)] = reason;
  for (const pod of deferred) podErrors[podKey(pod)] = GIVES_WAY;
  const explainer = new Explainer(attempt, snapshot.nodePools);
  for (const [index, left] of attempt.failed) {
    const reason = explainer.reason(index);
    for (const pod of left) podErrors[podKey(pod)] = reason;
  }
  return {
    newNodeClaims: attempt.claims.map((claim) => assembleClaim(claim, attempt.problem)),
    existingNodes: attempt.nodes
      .map(({ node: { view }, pods: placed }) => ({
        name: view.name,
        pods: [...(settled.get(view.name) ?? []), ...placed].map(podKey).sort(),
      }))
      .filter((node) => node.pods.length > 0),
    podErrors: Object.fromEntries(Object.entries(podErrors).sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

const GIVES_WAY = "pods that exist need what there is to be had now; room for later is made once they are placed";
