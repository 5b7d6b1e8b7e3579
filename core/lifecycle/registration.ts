import { registered as registeredEntry } from "../history/claim-entries.ts";
import type { HistoryEntry } from "../model/history-entry.ts";
import { DO_NOT_SYNC_TAINTS, REGISTERED, TERMINATION_FINALIZER, UNREGISTERED_TAINT } from "../model/labels.ts";
import type { Node } from "../model/node.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { Taint } from "../model/taint.ts";

/** Whether the node has a taint of this key and effect; its value does not count. */
export function hasTaint(node: Node, taint: { readonly key: string; readonly effect: string }): boolean {
  return (node.spec.taints ?? []).some(({ key, effect }) => key === taint.key && effect === taint.effect);
}

/** Whether the node is registered: it has the label, and the taint that keeps pods off is removed. */
export function isRegistered(node: Node): boolean {
  return node.metadata.labels?.[REGISTERED] === "true" && !hasTaint(node, UNREGISTERED_TAINT);
}

/** Whether the node names this NodeClaim (by UID) as its owner, and not an earlier one of the same name. */
export function isOwnedBy({ metadata }: Node, claim: NodeClaim): boolean {
  return metadata.ownerReferences?.some(({ uid }) => uid === claim.metadata.uid) ?? false;
}

/**
 * The node after registration: finalizer and owner reference, the NodeClaim's labels and annotations over the node's
 * own, the NodeClaim's taints unless the user data has set them, and the unregistered taint removed, so that pods can
 * be bound (karpenter: pkg/controllers/nodeclaim/lifecycle/registration.go, Registration.syncNode).
 */
export function registeredNode(node: Node, claim: NodeClaim): Node {
  const { metadata } = node;
  const owner = {
    apiVersion: "karpenter.sh/v1",
    kind: "NodeClaim",
    name: claim.metadata.name,
    uid: claim.metadata.uid ?? "",
    blockOwnerDeletion: true,
  };
  // Kubernetes' garbage collector would delete a node whose owner reference names an earlier NodeClaim of this name.
  const owners = (metadata.ownerReferences ?? []).filter(
    ({ kind, name, uid }) => kind !== owner.kind || name !== owner.name || uid === owner.uid,
  );
  const synced =
    metadata.labels?.[DO_NOT_SYNC_TAINTS] === "true"
      ? (node.spec.taints ?? [])
      : withTaints(withTaints(node.spec.taints ?? [], claim.spec.taints ?? []), claim.spec.startupTaints ?? []);
  return {
    ...node,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...claim.metadata.labels, [REGISTERED]: "true" },
      annotations: { ...metadata.annotations, ...claim.metadata.annotations },
      finalizers: withFinalizer(metadata.finalizers),
      ownerReferences: owners.some(({ uid }) => uid === owner.uid) ? owners : [...owners, owner],
    },
    spec: {
      ...node.spec,
      taints: synced.filter(({ key, effect }) => key !== UNREGISTERED_TAINT.key || effect !== UNREGISTERED_TAINT.effect),
    },
  };
}

/** A taint that is present by key and effect stays as it is; no taint is removed. */
function withTaints(taints: readonly Taint[], added: readonly Taint[]): readonly Taint[] {
  const missing = added.filter((taint) => !taints.some(({ key, effect }) => key === taint.key && effect === taint.effect));
  return missing.length === 0 ? taints : [...taints, ...missing];
}

/** The finalizers with ours, which keeps an object until its instance is terminated. */
export function withFinalizer(finalizers: readonly string[] | undefined): readonly string[] {
  return finalizers?.includes(TERMINATION_FINALIZER) ? finalizers : [...(finalizers ?? []), TERMINATION_FINALIZER];
}

/** The finalizers without ours. */
export function withoutFinalizer(finalizers: readonly string[] | undefined): readonly string[] {
  return (finalizers ?? []).filter((finalizer) => finalizer !== TERMINATION_FINALIZER);
}

type WithFinalizers = { readonly metadata: { readonly finalizers?: readonly string[] } };

/** Whether the write takes Karpenter's finalizer away. */
export function isFreed(before: WithFinalizers | undefined, after: WithFinalizers): boolean {
  const has = (object: WithFinalizers | undefined): boolean => object?.metadata.finalizers?.includes(TERMINATION_FINALIZER) ?? false;
  return has(before) && !has(after);
}

/**
 * The record with the name of its node, and the entry of that in the history. It is written before the node has the
 * label "initialized": from then on the node is no longer in the list of nodes that are not initialized.
 */
export function namedRecord(
  record: NodeClaimRecord,
  nodeName: string,
  now: number,
): { readonly record: NodeClaimRecord; readonly history: readonly HistoryEntry[] } {
  const next = { ...record, nodeName };
  return { record: next, history: [registeredEntry(next, nodeName, now)] };
}
