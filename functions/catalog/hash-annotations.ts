import { isTrue } from "../../core/model/conditions.ts";
import type { KubernetesObject } from "../../core/model/kubernetes.ts";
import type { NodeClaim } from "../../core/model/node-claim.ts";
import type { Kubernetes } from "../../core/ports/kubernetes.ts";
import { ignoreConflictOrGone } from "../shared/optimistic.ts";

/** A hash and the version of its rules, as annotations hold them. */
export interface HashAnnotations {
  readonly hashKey: string;
  readonly versionKey: string;
  readonly hash: string;
  readonly version: string;
}

/** The annotations with the hash, or undefined when they hold it. */
export function withHash(object: KubernetesObject, { hashKey, versionKey, hash, version }: HashAnnotations) {
  const { annotations = {} } = object.metadata;
  if (annotations[hashKey] === hash && annotations[versionKey] === version) return undefined;
  return { ...annotations, [hashKey]: hash, [versionKey]: version };
}

/**
 * Brings claims over to new rules before their owner changes: their version is rewritten, and their hash too unless they have drifted, since what they
 * were made from is not known under the new rules (nodepool.md §8, ec2nodeclass.md §9). Claims without a hash are left alone.
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
