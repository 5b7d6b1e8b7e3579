import { hasTaint } from "../../lifecycle/registration.ts";
import type { CommandRecord } from "../../model/command-record.ts";
import { isTrue } from "../../model/conditions.ts";
import { DISRUPTED_TAINT } from "../../model/labels.ts";
import type { NodeClaimRecord } from "../../model/node-claim-record.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { type ClusterView, viewCluster } from "../cluster/view.ts";
import type { CommandAction } from "./command-action.ts";

/** Whether a claim is there, is on its way out, or has gone: by its record or by its custom resource, whichever knows more. */
export function stateOf(view: ClusterView, name: string): "here" | "going" | "gone" {
  const claim = view.claims.get(name);
  const record = view.records.get(name);
  if (!claim && !record) return "gone";
  return claim?.metadata.deletionTimestamp || record?.terminating ? "going" : "here";
}

/** Whether a claim's node takes pods. */
export function isUp(view: ClusterView, name: string): boolean {
  if (stateOf(view, name) !== "here") return false;
  return view.records.get(name)?.initializedAt !== undefined || isTrue(view.claims.get(name)?.status?.conditions, "Initialized");
}

/** Taint and condition on every candidate that is still there and lacks them. */
export function mark(view: ClusterView, { candidates, reason }: CommandRecord): readonly CommandAction[] {
  return candidates.flatMap(({ nodeClaim }): CommandAction[] => {
    const machine = view.machines.get(nodeClaim);
    if (!machine || stateOf(view, nodeClaim) !== "here") return [];
    const { node, claim } = machine;
    const marked = isTrue(claim.status?.conditions, "DisruptionReason");
    return [
      ...(node && !hasTaint(node, DISRUPTED_TAINT) ? [{ type: "Taint", node: node.metadata.name } as const] : []),
      ...(marked ? [] : [{ type: "SetDisruptionReason", claim: nodeClaim, reason } as const]),
    ];
  });
}

/** Takes taint and condition off a claim that is not going for another reason. */
export function unmark(view: ClusterView, nodeClaim: string): readonly CommandAction[] {
  const machine = view.machines.get(nodeClaim);
  if (!machine || machine.markedForDeletion || stateOf(view, nodeClaim) !== "here") return [];
  const { node, claim } = machine;
  const untaint = node && !node.metadata.deletionTimestamp && hasTaint(node, DISRUPTED_TAINT);
  return [
    ...(untaint ? [{ type: "Untaint", node: node.metadata.name } as const] : []),
    ...(isTrue(claim.status?.conditions, "DisruptionReason") ? [{ type: "ClearDisruptionReason", claim: nodeClaim } as const] : []),
  ];
}

/**
 * Undoes what belongs to no command: a taint or a condition that a lost or abandoned command left behind (disruption.md §1.2).
 * Nodes whose claim is going keep theirs. To be done at the start of each pass, before anything is decided.
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
  const names = [...view.machines.keys()].filter((name) => !view.inCommand.has(name)).sort();
  return names.flatMap((name) => unmark(view, name));
}
