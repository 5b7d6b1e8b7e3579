import { lineOf } from "../announcements/log-events.ts";
import { type ConditionChange, conditionOf, fromRfc3339, isTrue } from "../model/conditions.ts";
import { DISRUPTED_TAINT, EXCLUDE_BALANCERS, TERMINATION_TIMESTAMP } from "../model/labels.ts";
import type { Node } from "../model/node.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { Pod } from "../model/pod.ts";
import { isReschedulable } from "../pods/predicates.ts";
import type { Action, ClaimView, Step } from "./action.ts";
import { metricLabels, writeConditions } from "./claim-status.ts";
import { withDisruptedTaint } from "./disrupted-taint.ts";
import { drain } from "./drain.ts";
import { isGone, isStopped } from "./instance-state.ts";
import { pollsUntil } from "./polls.ts";
import { terminationMode } from "./termination-mode.ts";

/** The conditions and the count of a drain that has ended. */
export interface DrainEnd {
  readonly conditions: readonly ConditionChange[];
  readonly counted: Action;
}

export const recordEnd = (view: ClaimView, claim: NodeClaim, { conditions, counted }: DrainEnd): readonly Action[] => [
  ...writeConditions(view, claim, conditions),
  counted,
];

/** Taint, drain, volumes. No step when the node is empty; then `end`, if the NodeClaim has no condition of it yet. */
export function drainNode(
  view: ClaimView,
  record: NodeClaimRecord,
  claim: NodeClaim | undefined,
  node: Node,
): { readonly step?: Step | undefined; readonly end?: DrainEnd } {
  if (!isTrue(node.status?.conditions, "Ready")) {
    if (view.instance === undefined && record.instance) return { step: { actions: [], ask: "instance" } };
    // No pod runs there that could be drained, and the end of a machine that a user stopped frees its volumes.
    if (isGone(view, record) || isStopped(view)) return {};
  }
  const tainted = takenOut(node);
  if (tainted) {
    const fields = {
      "taint.Key": DISRUPTED_TAINT.key,
      "taint.Value": "",
      "taint.Effect": DISRUPTED_TAINT.effect,
      Node: { name: node.metadata.name },
    };
    const actions: readonly Action[] = [
      { type: "WriteNode", node: tainted },
      { type: "Log", ...lineOf("tainted node", fields) },
    ];
    return { step: { actions, again: true } };
  }
  const drained = conditionOf(claim?.status?.conditions, "Drained");
  if (drained?.status === "True") return { step: awaitVolumes(view, claim, node) };
  // Only now: a pod that was bound before the taint is among them.
  if (view.pods === undefined) return { step: { actions: [], ask: "pods" } };
  const begun: readonly Action[] =
    claim && drained === undefined
      ? [
          ...writeConditions(view, claim, [{ type: "Drained", status: "Unknown", reason: "Draining" }]),
          ...disruptedPods(view.pods, record, claim),
        ]
      : [];
  const step = drain({ ...view, pods: view.pods }, record, claim, node);
  if (step) return { step: { ...step, actions: [...begun, ...step.actions] } };
  if (begun.length > 0) return { step: { actions: begun, wakeAt: view.now + MIN_DRAIN_MS } };
  if (claim === undefined) return {};
  const since = fromRfc3339(drained?.lastTransitionTime);
  if (view.now - since < MIN_DRAIN_MS) return { step: { actions: [], wakeAt: since + MIN_DRAIN_MS } };
  if (view.volumeAttachments === undefined) return { step: { actions: [], ask: "volumeAttachments" } };
  const counted: Action = { type: "Count", metric: "nodes_drained_total", labels: { nodepool: record.nodePool ?? "" } };
  const isDrained: ConditionChange = { type: "Drained", status: "True" };
  // Without volumes there is no further wait, and one write says so and that the instance is terminated.
  if (view.volumeAttachments.length === 0)
    return { end: { conditions: [isDrained, { type: "VolumesDetached", status: "True" }], counted } };
  return { step: { actions: recordEnd(view, claim, { conditions: [isDrained], counted }), again: true } };
}

/**
 * Counts the pods that a disruption moves, once, when the drain begins
 * (karpenter: pkg/metrics/metrics.go, PodsDisruptionInitiatedTotal). What users delete is no disruption, as for
 * nodeclaims_disrupted_total.
 */
function disruptedPods(pods: readonly Pod[], record: NodeClaimRecord, claim: NodeClaim): readonly Action[] {
  const { reason = "deleted", consolidationPolicy = "" } = record.terminating ?? {};
  const by = pods.filter(isReschedulable).length;
  if (reason === "deleted" || by === 0) return [];
  const { nodepool = "", capacity_type = "" } = metricLabels(claim, record);
  const labels = {
    ...{ reason, nodepool, capacity_type },
    consolidation_policy: consolidationPolicy,
    termination_mode: terminationMode(claim.spec.terminationGracePeriod),
  };
  return [{ type: "Count", metric: "pods_disruption_initiated_total", labels, by }];
}

/** Minimum time in "Draining", so that a pod bound just before the taint is seen. No benchmark has tuned it. */
const MIN_DRAIN_MS = 5_000;

/** Waits until the attach-detach controller has detached the volumes, at most until the deadline. */
function awaitVolumes(view: ClaimView, claim: NodeClaim | undefined, node: Node): Step | undefined {
  const detached = conditionOf(claim?.status?.conditions, "VolumesDetached");
  if (claim === undefined || detached?.status === "True" || detached?.status === "False") return undefined;
  if (view.volumeAttachments === undefined) return { actions: [], ask: "volumeAttachments" };
  if (view.volumeAttachments.length === 0) {
    return { actions: writeConditions(view, claim, [{ type: "VolumesDetached", status: "True" }]), again: true };
  }
  const deadline = fromRfc3339(claim.metadata.annotations?.[TERMINATION_TIMESTAMP]);
  if (view.now >= deadline) {
    return {
      actions: writeConditions(view, claim, [{ type: "VolumesDetached", status: "False", reason: "TerminationGracePeriodElapsed" }]),
      again: true,
    };
  }
  const names = view.volumeAttachments.map(({ metadata }) => metadata.name);
  const listed = `${names.slice(0, 5).join(", ")}${names.length > 5 ? ` and ${names.length - 5} other(s)` : ""}`;
  return {
    actions: [
      ...writeConditions(view, claim, [{ type: "VolumesDetached", status: "Unknown", reason: "AwaitingVolumeDetachment" }]),
      {
        type: "Event",
        event: {
          type: "Normal",
          reason: "AwaitingVolumeDetachment",
          message: `Awaiting deletion of bound volumeattachments (${listed})`,
          about: { kind: "Node", metadata: node.metadata },
        },
      },
    ],
    ...pollsUntil(deadline, view.now, detached ? fromRfc3339(detached.lastTransitionTime) : view.now),
    waitsFor: "volumes",
  };
}

/** The node with the disrupted taint and out of load balancers; undefined when it has both already. */
function takenOut(node: Node): Node | undefined {
  const tainted = withDisruptedTaint(node);
  if (tainted === undefined && node.metadata.labels?.[EXCLUDE_BALANCERS] === "karpenter") return undefined;
  const { metadata } = node;
  return { ...(tainted ?? node), metadata: { ...metadata, labels: { ...metadata.labels, [EXCLUDE_BALANCERS]: "karpenter" } } };
}
