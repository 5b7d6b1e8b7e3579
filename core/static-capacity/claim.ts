// Static NodePools keep `replicas` nodes whatever pods exist (feature gate StaticCapacity). In come NodePools and their
// claims; out come how many to add or remove (plan.ts), the claims to add (claim.ts) and which to remove (surplus.ts).
// Disruption is not known here.

import { filterForLaunch } from "../launch/filter.ts";
import type { InstanceType } from "../model/instance-type.ts";
import { WELL_KNOWN_LABELS } from "../model/labels.ts";
import type { NodePool } from "../model/node-pool.ts";
import type { PlannedNodeClaim } from "../model/plan.ts";
import { requirementsFrom } from "../requirements/requirements.ts";
import { isRestrictedLabel } from "../requirements/validation.ts";

/**
 * Whether a NodePool is static, which means that it has `replicas`
 * (karpenter: pkg/utils/nodepool/nodepool.go, IsStatic).
 */
export function isStatic({ spec }: NodePool): boolean {
  return spec.replicas !== undefined && spec.replicas !== null;
}

/**
 * The planned NodeClaim of one more node of a static pool, from its template alone: no pods are planned on it, and its
 * instance type is chosen at launch. `none` says why nothing can be launched.
 */
export function staticClaim(pool: NodePool, types: readonly InstanceType[]): { readonly ok: PlannedNodeClaim } | { readonly none: string } {
  const { requirements, taints = [] } = pool.spec.template.spec;
  const filtered = filterForLaunch(types, requirementsFrom(requirements), {});
  if ("none" in filtered) return filtered;
  const { candidates } = filtered.ok;
  const prices = candidates.flatMap(({ offerings }) => offerings.map(({ price }) => price));
  const pinned = requirements.filter(({ key, operator, values }) => operator === "In" && values?.length === 1 && isCustom(key));
  return {
    ok: {
      nodePool: pool.metadata.name,
      requirements,
      taints,
      labels: Object.fromEntries(pinned.map(({ key, values }) => [key, values?.[0] ?? ""])),
      instanceTypes: candidates.map(({ type }) => type.name),
      typesAtLaunch: true,
      requests: {},
      pods: [],
      pricePerHour: Math.min(...prices),
    },
  };
}

function isCustom(key: string): boolean {
  return !WELL_KNOWN_LABELS.has(key) && !isRestrictedLabel(key);
}
