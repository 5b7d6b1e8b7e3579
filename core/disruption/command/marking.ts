import { hasTaint } from "../../lifecycle/registration.ts";
import type { CommandRecord } from "../../model/command-record.ts";
import { isTrue } from "../../model/conditions.ts";
import { DISRUPTED_TAINT } from "../../model/labels.ts";
import type { NodeClaimRecord } from "../../model/node-claim-record.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { type ClusterView, viewCluster } from "../cluster/view.ts";
import type { CommandAction } from "./command-action.ts";

/**
 * Whether a claim is active, is being deleted, or is gone, by its record and its custom resource: the later state
 * counts.
 */
export function stateOf(view: ClusterView, name: string): "active" | "deleting" | "gone" {
  const claim = view.claims.get(name);
  const record = view.records.get(name);
  if (!claim && !record) return "gone";
  return claim?.metadata.deletionTimestamp || record?.terminating ? "deleting" : "active";
}

/** Whether a claim is active and its node is initialized. */
export function isUp(view: ClusterView, name: string): boolean {
  if (stateOf(view, name) !== "active") return false;
  return view.records.get(name)?.initializedAt !== undefined || isTrue(view.claims.get(name)?.status?.conditions, "Initialized");
}

/** Adds the taint and the condition to every active candidate that lacks them. */
export function mark(view: ClusterView, { candidates, reason }: CommandRecord): readonly CommandAction[] {
  return candidates.flatMap(({ nodeClaim }): CommandAction[] => {
    const machine = view.machines.get(nodeClaim);
    if (!machine || stateOf(view, nodeClaim) !== "active") return [];
    const { node, claim } = machine;
    const marked = isTrue(claim.status?.conditions, "DisruptionReason");
    return [
      ...(node && !hasTaint(node, DISRUPTED_TAINT) ? [{ type: "Taint", node: node.metadata.name } as const] : []),
      ...(marked ? [] : [{ type: "SetDisruptionReason", claim: nodeClaim, reason } as const]),
    ];
  });
}

/** Removes the taint and the condition from an active claim that nothing else disrupts. */
export function unmark(view: ClusterView, nodeClaim: string): readonly CommandAction[] {
  const machine = view.machines.get(nodeClaim);
  if (!machine || machine.markedForDeletion || stateOf(view, nodeClaim) !== "active") return [];
  const { node, claim } = machine;
  // The reboot still drains for the reason.
  if (isTrue(claim.status?.conditions, "Rebooting")) return [];
  const untaint = node && !node.metadata.deletionTimestamp && hasTaint(node, DISRUPTED_TAINT);
  return [
    ...(untaint ? [{ type: "Untaint", node: node.metadata.name } as const] : []),
    ...(isTrue(claim.status?.conditions, "DisruptionReason") ? [{ type: "ClearDisruptionReason", claim: nodeClaim } as const] : []),
  ];
}

/**
 * Removes the taints and conditions that belong to no command: a lost or abandoned command left them. Nodes whose claim
 * is being deleted keep theirs, and so do nodes that must not be touched: another controller may have launched them.
 * The shell does this in each pass before it decides anything
 * (karpenter: pkg/controllers/disruption/controller.go, Controller.Reconcile).
 */
export function heal(input: {
  readonly snapshot: Snapshot;
  readonly records: readonly NodeClaimRecord[];
  /** All commands under way. */
  readonly commands: readonly CommandRecord[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}): readonly CommandAction[] {
  const view = viewCluster(input);
  const { untouchable } = view.snapshot;
  const reachable = [...view.machines].filter(([, { node }]) => node === undefined || !untouchable?.has(node.metadata.name));
  const names = reachable.flatMap(([name]) => (view.inCommand.has(name) ? [] : [name])).sort();
  return names.flatMap((name) => unmark(view, name));
}
