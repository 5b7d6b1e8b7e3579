import { INSTANCE_PROFILE_ANNOTATION } from "../model/labels.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { EC2NodeClass } from "../model/node-class.ts";
import type { ListedProfile } from "../ports/cloud-inventory.ts";

/** A profile is made before its NodeClass says so, and claims are launched with it before they do. */
const YOUNG_MS = 60 * 60_000;

/**
 * Profiles that no NodeClass launches with and no NodeClaim was launched with: those of an earlier role, or of a class that went while IAM was out of reach
 * (ec2nodeclass.md §7). `now` in ms.
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
  return listed.filter(({ name, createdAt }) => !used.has(name) && now - createdAt >= YOUNG_MS).map(({ name }) => name);
}
