// The scheduler's entry. In: a Snapshot of the cluster. Out: a Plan (new NodeClaims, pods on existing nodes, reasons
// for the others). Way: problemFor lays the snapshot out, bestAttempt searches, assembleClaim and Explainer render.
// Rooms from below: tables, rules, problem, claims and packing, reasons. Must not know: clocks, clients, records; all
// of it is a pure function.

import type { Plan } from "../model/plan.ts";
import type { Pod } from "../model/pod.ts";
import { type CostSettings, costSettingsOf } from "../model/prices.ts";
import type { Snapshot } from "../model/snapshot.ts";
import { podKey, podUid } from "../pods/predicates.ts";
import type { Attempt } from "./attempt.ts";
import { assembleClaim } from "./claims/assemble.ts";
import { placeWithHeadroom } from "./headroom.ts";
import { planViolation, soundPlan } from "./plan-invariants.ts";
import { nodeViews } from "./problem/node-view.ts";
import { pendingPods } from "./problem/pending-pods.ts";
import { problemFor } from "./problem/problem.ts";
import { Explainer } from "./reasons/explain.ts";
import type { PreferencePolicy } from "./rules/preferences.ts";
import { bestAttempt, type Effort } from "./search.ts";
import { undecidedAffinity } from "./undecided-affinity.ts";

export { claimRequirements } from "./claims/assemble.ts";
export { type PendingPods, pendingPods } from "./problem/pending-pods.ts";

/** What a caller may change about a run. Provisioning changes nothing; disruption simulates the removal of nodes. */
export interface SolveOptions extends CostSettings {
  /** "Ignore" drops preferred terms and ScheduleAnyway spreads. Default "Respect". */
  readonly preferencePolicy?: PreferencePolicy;
  /** "BestEffort" opens a claim even when too few types are left for minValues. Default "Strict". */
  readonly minValuesPolicy?: "Strict" | "BestEffort";
  /**
   * Names of nodes that the run treats as removed: candidates of a disruption. Pods that are not in `extraPods` vanish
   * with them.
   */
  readonly excludeNodes?: ReadonlySet<string>;
  /** Pods to place besides the pending ones: the reschedulable pods of the candidates. */
  readonly extraPods?: readonly Pod[];
  /**
   * Names of nodes inside their consolidateAfter window. No pod of `extraPods` is moved there, but pending pods may be.
   */
  readonly settling?: ReadonlySet<string>;
  /** How hard to search for a cheap plan. Default "full". */
  readonly effort?: Effort;
  /**
   * When the capacity reservations that suit a pod are taken by other claims of the run: "strict" (provisioning) defers
   * the pod to the next run, "fallback" (disruption) uses other capacity. Default "strict".
   */
  readonly reservedMode?: "strict" | "fallback";
}

/**
 * Decides where pending pods go: to existing nodes, to nodes that are being launched, or to new ones. Pure: the same
 * snapshot with its objects in any order gives the same plan. Every pod is placed once or has a reason in `podErrors`.
 *
 *     const { newNodeClaims, existingNodes, podErrors } = solve(snapshot);
 *     solve(snapshot, { excludeNodes: new Set(["n1"]), extraPods: podsOfN1 }); // a simulation without node n1
 */
export function solve(snapshot: Snapshot, options: SolveOptions = {}): Plan {
  const pending = pendingPods(snapshot);
  // A caller may name a pod of a deleting node again; that pod must leave anyway, so it counts as pending and not as
  // moved.
  const pods = [...new Map([...(options.extraPods ?? []), ...pending.pods].map((pod) => [podUid(pod), pod])).values()];
  const mustMove = new Set([...pending.pods, ...pending.virtual]);
  const moved = new Set((options.settling?.size ?? 0) === 0 ? [] : pods.filter((pod) => !mustMove.has(pod)));
  const { attempt, settled, deferred } = placeWithHeadroom(snapshot, pods, pending.virtual, (seen, real, virtual) => {
    const search = (decidesAffinity: boolean): Attempt =>
      bestAttempt(
        problemFor(seen, nodeViews(seen), [...real, ...virtual], {
          policy: options.preferencePolicy ?? "Respect",
          minValuesPolicy: options.minValuesPolicy ?? "Strict",
          reservedMode: options.reservedMode ?? "strict",
          excludeNodes: options.excludeNodes ?? new Set(),
          settling: options.settling ?? new Set(),
          moved,
          virtual: new Set(virtual),
          decidesAffinity,
          ...costSettingsOf(options),
        }),
        options.effort ?? "full",
      );
    const found = search(false);
    const open = undecidedAffinity(found);
    const decided = open === undefined ? found : search(true);
    return open === "parted" || countLeft(decided) < countLeft(found) ? decided : found;
  });
  const podErrors: Record<string, string> = {};
  for (const { pod, reason } of pending.ignored) if (reason !== "") podErrors[podKey(pod)] = reason;
  for (const pod of deferred) podErrors[podKey(pod)] = GIVES_WAY;
  const explainer = new Explainer(attempt, snapshot);
  for (const [index, left] of attempt.failed) {
    const reason = explainer.reason(index);
    for (const pod of left) podErrors[podKey(pod)] = reason;
  }
  const plan: Plan = {
    newNodeClaims: attempt.claims.map((claim) => assembleClaim(claim, attempt.problem)),
    existingNodes: attempt.nodes
      .map(({ node: { view }, pods: placed }) => ({
        name: view.name,
        pods: [...(settled.get(view.name) ?? []), ...placed].map(podKey).sort(),
      }))
      .filter((node) => node.pods.length > 0),
    podErrors: Object.fromEntries(Object.entries(podErrors).sort(([a], [b]) => (a < b ? -1 : 1))),
    ...(explainer.retriedAt !== undefined && { retriedAt: explainer.retriedAt }),
  };
  return planViolation(plan) ? soundPlan(plan) : plan;
}

function countLeft({ failed }: Attempt): number {
  return failed.values().reduce((sum, pods) => sum + pods.length, 0);
}

/** The reason of virtual pods that were not tried. */
const GIVES_WAY = "buffer pods wait: existing pods are placed first";
