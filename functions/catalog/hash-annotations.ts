import { isTrue } from "#core/model/conditions.ts";
import type { KubernetesObject } from "#core/model/kubernetes.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { Kubernetes } from "#core/ports/kubernetes.ts";
import { ignoreConflictOrGone } from "../shared/optimistic.ts";

/** A hash and the version of the rules that it was computed by, as annotations hold them. */
export interface HashAnnotations {
  readonly hashKey: string;
  readonly versionKey: string;
  readonly hash: string;
  readonly version: string;
}

/** The object's annotations with the hash set; undefined when they hold it already. */
export function withHash(object: KubernetesObject, { hashKey, versionKey, hash, version }: HashAnnotations) {
  const { annotations = {} } = object.metadata;
  if (annotations[hashKey] === hash && annotations[versionKey] === version) return undefined;
  return { ...annotations, [hashKey]: hash, [versionKey]: version };
}

/**
 * Moves NodeClaims to a new hash version before their NodePool or EC2NodeClass gets it. The version annotation is
 * rewritten; the hash is rewritten too unless the NodeClaim has drifted, because the new hash of what it was created
 * from is not known (karpenter: pkg/controllers/nodepool/hash/controller.go, Controller.updateNodeClaimHash).
 * NodeClaims without a hash stay as they are.
 */
export async function moveClaims(claims: readonly NodeClaim[], hash: HashAnnotations, kubernetes: Kubernetes): Promise<void> {
  for (const claim of claims) {
    const { annotations = {} } = claim.metadata;
    if (annotations[hash.versionKey] === undefined || annotations[hash.versionKey] === hash.version) continue;
    const drifted = isTrue(claim.status?.conditions, "Drifted");
    const moved = { ...annotations, [hash.versionKey]: hash.version, ...(!drifted && { [hash.hashKey]: hash.hash }) };
    await ignoreConflictOrGone(kubernetes.update("NodeClaim", { ...claim, metadata: { ...claim.metadata, annotations: moved } }));
  }
}
