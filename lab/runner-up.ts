import { capacityTypeOfPlanned } from "#core/disruption/consolidation/replacement.ts";
import { costed, totalCost } from "#core/disruption/prices/cost.ts";
import { wrap } from "#core/lib/wrap.ts";
import { INSTANCE_TYPE } from "#core/model/labels.ts";
import type { PlannedNodeClaim } from "#core/model/plan.ts";
import type { CostSettings } from "#core/model/prices.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import type { UnavailableOffering } from "#core/model/unavailable-offering.ts";
import { isReschedulable } from "#core/pods/predicates.ts";
import { counted } from "#core/scheduling/reasons/words.ts";
import { solve } from "#core/scheduling/solve.ts";
import { readClusterState } from "#functions/shared/cluster-state.ts";
import type { Lab } from "./host.ts";
import { WIDTH } from "./render.ts";

/** Overheads of a node, USD per hour, at which a plan has most and fewest nodes. */
const OVERHEADS = [0, 100];

/**
 * Why the nodes that were launched since `since` (ms since the epoch) were bought and not fewer or more: the offerings
 * that are left out, and what the plan with another number of nodes would cost. The scheduler plans the same pods
 * again, without these nodes. Undefined where there is no such plan, or where the market has changed in the meantime.
 */
export async function runnerUp({ deps }: Lab, since: number, width = WIDTH): Promise<string | undefined> {
  const { snapshot } = await readClusterState(deps);
  const left = await deps.store.unavailable(deps.cluster.name, deps.now());
  const bought = snapshot.nodes.filter(({ metadata }) => Date.parse(metadata.creationTimestamp ?? "") > since);
  const excludeNodes = new Set(bought.map(({ metadata }) => metadata.name));
  const extraPods = snapshot.pods.filter((pod) => excludeNodes.has(pod.spec.nodeName ?? "") && isReschedulable(pod));
  const without = { ...deps.settings, excludeNodes, extraPods };
  const chosen = solve(snapshot, without).newNodeClaims;
  const types = (names: readonly (string | undefined)[]): string => names.toSorted().join();
  if (types(chosen.map(({ instanceTypes }) => instanceTypes[0])) !== types(bought.map(({ metadata }) => metadata.labels?.[INSTANCE_TYPE])))
    return undefined;
  const costOf = (claims: readonly PlannedNodeClaim[]): number => totalCost(costed(claims, snapshot, deps.settings));
  const others = OVERHEADS.map((nodeOverheadPrice) => solve(snapshot, { ...without, nodeOverheadPrice }).newNodeClaims);
  const [other] = others
    .filter((claims) => claims.length > 0 && claims.length !== chosen.length && costOf(claims) > costOf(chosen))
    .sort((a, b) => costOf(a) - costOf(b));
  if (other === undefined) return undefined;
  const what = `${counted(chosen.length, "node")} and not ${other.length}`;
  const cause = left.length > 0 ? `${left.map(offeringText).join(", ")} ${left.length === 1 ? "is" : "are"} not bought for now, and ` : "";
  const text = `Why ${what}: ${cause}${planText(chosen, snapshot, deps.settings)} cost less than ${planText(other, snapshot, deps.settings)} an hour.`;
  return wrap(text, width).join("\n");
}

function offeringText({ instanceType, capacityType, zone }: UnavailableOffering): string {
  return `${instanceType} ${capacityType} in ${zone}`;
}

/** "2 × (spot c6a.large $0.0213 + node $0.0222) = $0.0870"; surplus credits are named where there are any. */
function planText(claims: readonly PlannedNodeClaim[], snapshot: Snapshot, settings: CostSettings): string {
  const kinds = Map.groupBy(claims, (claim) => {
    const { instanceTypes, pricePerHour, surplusPerHour = 0 } = claim;
    const [{ nodeCost } = { nodeCost: 0 }] = costed([claim], snapshot, settings);
    const surplus = surplusPerHour > 0 ? ` + surplus credits $${surplusPerHour.toFixed(4)}` : "";
    return `(${capacityTypeOfPlanned(claim)} ${instanceTypes[0]} $${pricePerHour.toFixed(4)}${surplus} + node $${nodeCost.toFixed(4)})`;
  });
  const cost = totalCost(costed(claims, snapshot, settings));
  return `${[...kinds].map(([kind, { length }]) => `${length} × ${kind}`).join(" + ")} = $${cost.toFixed(4)}`;
}
