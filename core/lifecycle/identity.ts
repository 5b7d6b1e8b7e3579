import { ownValue } from "../lib/own-value.ts";
import type { Instance } from "../model/instance.ts";
import { INTENT, TERMINATION_FINALIZER } from "../model/labels.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import { CLUSTER_TAG, NODE_CLAIM_TAG } from "../model/tags.ts";

/**
 * True when the NodeClaim of this name was made for another intent than the record's: the NodeClaim and its node then
 * belong to another owner. A NodeClaim with our intent is ours under any UID, because it may be restored from a backup.
 */
export function isStranger(record: NodeClaimRecord, claim: NodeClaim): boolean {
  if (record.uid !== undefined && record.uid === claim.metadata.uid) return false;
  return claim.metadata.annotations?.[INTENT] !== record.intentId;
}

/**
 * A NodeClaim that is being deleted and no longer has our finalizer; other finalizers are for their owners to remove.
 */
export function isDoneWith({ metadata }: NodeClaim): boolean {
  return metadata.deletionTimestamp !== undefined && !metadata.finalizers?.includes(TERMINATION_FINALIZER);
}

/**
 * Whether another controller, such as Karpenter, has launched a NodeClaim that has no record: it has an instance, and
 * not the annotation that each NodeClaim with a record gets. It stays that controller's until a user asks for it with
 * the command `adopt`.
 */
export function isLaunchedByOther({ metadata, status }: NodeClaim): boolean {
  return status?.providerID !== undefined && metadata.annotations?.[INTENT] === undefined;
}

/** Reason of the event on a NodeClaim whose instance has another owner. */
export const FOREIGN_INSTANCE = "ForeignInstance";

/**
 * Why an instance is not one of the cluster's, by its tags; undefined when it is. Each launch sets both tags, and so
 * does Karpenter; its older versions set only the second.
 */
export function foreignCluster({ id, tags }: Pick<Instance, "id" | "tags">, cluster: string): string | undefined {
  const named = ownValue(tags, CLUSTER_TAG);
  if (named === cluster) return undefined;
  if (named !== undefined) return `instance ${id} has the tag ${CLUSTER_TAG}=${named}, so it belongs to another cluster`;
  const owned = `kubernetes.io/cluster/${cluster}`;
  return ownValue(tags, owned) === "owned" ? undefined : `instance ${id} has neither the tag ${CLUSTER_TAG}=${cluster} nor ${owned}=owned`;
}

/**
 * Why an instance is not the NodeClaim's, by its tags; undefined when it is. A NodeClaim may name any instance in its
 * status: one that was forged, or restored from a backup in another cluster. The UID is not compared, because a
 * NodeClaim that is restored has another one; Karpenter's instances get their NodeClaim's name only later.
 */
export function foreignInstance(instance: Pick<Instance, "id" | "tags">, owner: { readonly cluster: string; readonly name: string }) {
  const name = ownValue(instance.tags, NODE_CLAIM_TAG);
  const other = name === undefined || name === owner.name ? undefined : `instance ${instance.id} has the tag ${NODE_CLAIM_TAG}=${name}`;
  return foreignCluster(instance, owner.cluster) ?? other;
}

/**
 * Whether a node may have this name if it runs on the instance. On EKS the kubelet's user is named after EC2's private
 * DNS name, whether that is made of the IP address or of the instance id, or after the instance id alone (nodeadm's
 * InstanceIdNodeName, Bottlerocket's hostname-override-source), and the API server lets a kubelet write only the node
 * of its user's name. A domain of the VPC's own is not compared. True when EC2 has not returned the DNS name.
 */
export function isNameOf(nodeName: string, { id, privateDnsName }: Pick<Instance, "id" | "privateDnsName">): boolean {
  if (privateDnsName === undefined) return true;
  const host = hostOf(nodeName);
  return host === hostOf(privateDnsName) || host === id.toLowerCase();
}

const hostOf = (name: string): string => name.toLowerCase().split(".", 1)[0] ?? "";
