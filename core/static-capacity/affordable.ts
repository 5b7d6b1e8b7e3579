import type { InstanceType } from "../model/instance-type.ts";
import type { NodePool } from "../model/node-pool.ts";
import type { PlannedNodeClaim } from "../model/plan.ts";
import { micros } from "../model/prices.ts";
import type { Snapshot } from "../model/snapshot.ts";
import { dearestOffering } from "../offerings/dearest.ts";
import { offeringRequirementsOf } from "../requirements/offerings.ts";
import { requirementsFrom } from "../requirements/requirements.ts";
import { nodeViews } from "../scheduling/problem/node-view.ts";
import { priceCapsLeft } from "../scheduling/problem/price-caps.ts";

/** Nodes of a static pool that price caps leave room for. */
interface Affordable {
  readonly count: number;
  /** The planned NodeClaim, near a cap with those of its instance types alone that the cap leaves to each node. */
  readonly planned: PlannedNodeClaim;
}

/**
 * How many of `wanted` nodes of a static pool the price caps leave room for, whatever each is launched as.
 * @param without names of nodes that are not counted, because they go
 */
export function affordable(
  { pool, planned, wanted }: { readonly pool: NodePool; readonly planned: PlannedNodeClaim; readonly wanted: number },
  snapshot: Snapshot,
  without: ReadonlySet<string> = new Set(),
): Affordable {
  const views = nodeViews(snapshot).filter(({ name }) => !without.has(name));
  const left = Math.min(...Object.values(priceCapsLeft(snapshot, views)(pool)));
  if (left === Number.POSITIVE_INFINITY) return { count: wanted, planned };
  const types: readonly InstanceType[] = snapshot.instanceTypes.get(pool.metadata.name) ?? [];
  const { requirements } = pool.spec.template.spec;
  const onOfferings = offeringRequirementsOf(requirementsFrom(requirements));
  const byName = new Map(types.map((type) => [type.name, micros(dearestOffering(type, onOfferings))]));
  const prices = planned.instanceTypes.map((name) => byName.get(name) ?? 0);
  // Fewer types than minValues asks for would be refused, so such a node counts as its most expensive type.
  const least = requirements.some(({ minValues }) => minValues !== undefined) ? Math.max(...prices) : Math.min(...prices);
  const count = Math.max(0, Math.min(wanted, Math.floor(left / Math.max(1, least))));
  const most = count === 0 ? 0 : left / count;
  if (prices.every((price) => price <= most)) return { count, planned };
  const { typesAtLaunch: _, ...named } = planned;
  return { count, planned: { ...named, instanceTypes: planned.instanceTypes.filter((_name, i) => (prices[i] ?? 0) <= most) } };
}
