import { INSTANCE_PROFILE_ANNOTATION } from "../model/labels.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { EC2NodeClass } from "../model/node-class.ts";
import type { ListedProfile } from "../ports/cloud-inventory.ts";

/**
 * A younger profile is never unused: it is created before the status of its NodeClass names it, and NodeClaims launch
 * with it before their annotation names it. No benchmark has tuned it.
 */
const MIN_UNUSED_AGE_MS = 60 * 60_000;

/**
 * Names of the profiles that no NodeClass uses and no NodeClaim was launched with: profiles of an earlier role, or of a
 * NodeClass that was deleted while IAM was unreachable
 * (karpenter-provider-aws: pkg/controllers/nodeclass/garbagecollection/controller.go, Controller.Reconcile). `now` in
 * ms.
 */
export function unusedProfiles(
  listed: readonly ListedProfile[],
  nodeClasses: readonly EC2NodeClass[],
  claims: readonly NodeClaim[],
  now: number,
): readonly string[] {
  const used = new Set([
    ...nodeClasses.flatMap(({ spec, status }) => [spec.instanceProfile, status?.instanceProfile]),
    ...claims.map(({ metadata }) => metadata.annotations?.[INSTANCE_PROFILE_ANNOTATION]),
  ]);
  return listed.filter(({ name, createdAt }) => !used.has(name) && now - createdAt >= MIN_UNUSED_AGE_MS).map(({ name }) => name);
}
