import { capacityTypeOfPlanned } from "../core/disruption/consolidation/replacement.ts";
import { wrap } from "../core/lib/wrap.ts";
import { INSTANCE_TYPE } from "../core/model/labels.ts";
import type { PlannedNodeClaim } from "../core/model/plan.ts";
import { NODE_VOLUME_PRICE } from "../core/model/prices.ts";
import type { UnavailableOffering } from "../core/model/unavailable-offering.ts";
import { isReschedulable } from "../core/pods/predicates.ts";
import { counted } from "../core/scheduling/reasons/words.ts";
import { solve } from "../core/scheduling/solve.ts";
import { readClusterState } from "../functions/shared/cluster-state.ts";
import type { Lab } from "./host.ts";
import { WIDTH } from "./render.ts";

/** Costs of a node beside its instance, USD per hour, at which a plan has most and fewest nodes. */
const NODE_COSTS = [0, 100];

/**
 * Why the nodes that were launched since `since` (ms since the epoch) were bought and not fewer or more: the offerings
 * that are left out, and what the plan with another number of nodes would cost. The scheduler plans the same pods
 * again, without these nodes. Undefined where there is no such plan, or where the market has changed in the meantime.
 */
export async function runnerUp({ deps }: Lab, since: number): Promise<string | undefined> {
  const { snapshot } = await readClusterState(deps);
  const left = await deps.store.unavailable(deps.cluster.name, deps.now());
  const bought = snapshot.nodes.filter(({ metadata }) => Date.parse(metadata.creationTimestamp ?? "") > since);
  const excludeNodes = new Set(bought.map(({ metadata }) => metadata.name));
  const extraPods = snapshot.pods.filter((pod) => excludeNodes.has(pod.spec.nodeName ?? "") && isReschedulable(pod));
  const without = { excludeNodes, extraPods };
  const chosen = solve(snapshot, without).newNodeClaims;
  const types = (names: readonly (string | undefined)[]): string => names.toSorted().join();
  if (types(chosen.map(({ instanceTypes }) => instanceTypes[0])) !== types(bought.map(({ metadata }) => metadata.labels?.[INSTANCE_TYPE])))
    return undefined;
  const others = NODE_COSTS.map((nodeHour) => solve(snapshot, { ...without, nodeHour }).newNodeClaims);
  const [other] = others
    .filter((claims) => claims.length > 0 && claims.length !== chosen.length && priceOf(claims) > priceOf(chosen))
    .sort((a, b) => priceOf(a) - priceOf(b));
  if (other === undefined) return undefined;
  const what = `${counted(chosen.length, "node")} and not ${other.length}`;
  const cause = left.length > 0 ? `${left.map(offeringText).join(", ")} ${left.length === 1 ? "is" : "are"} not bought for now, and ` : "";
  const text = `Why ${what}: ${cause}${planText(chosen)} cost less than ${planText(other)} an hour.`;
  return wrap(text, WIDTH, 0).join("\n");
}

function priceOf(claims: readonly PlannedNodeClaim[]): number {
  return claims.reduce((sum, { pricePerHour }) => sum + pricePerHour + NODE_VOLUME_PRICE, 0);
}

function offeringText({ instanceType, capacityType, zone }: UnavailableOffering): string {
  return `${instanceType} ${capacityType} in ${zone}`;
}

/** "2 × (spot c6a.large $0.0213 + volume $0.0022) = $0.0471". */
function planText(claims: readonly PlannedNodeClaim[]): string {
  const kinds = Map.groupBy(claims, (claim) => {
    const { instanceTypes, pricePerHour } = claim;
    return `(${capacityTypeOfPlanned(claim)} ${instanceTypes[0]} $${pricePerHour.toFixed(4)} + volume $${NODE_VOLUME_PRICE.toFixed(4)})`;
  });
  return `${[...kinds].map(([kind, { length }]) => `${length} × ${kind}`).join(" + ")} = $${priceOf(claims).toFixed(4)}`;
}
