import { snakeCase } from "#core/insight/metrics/labels.ts";
import { terminationMode } from "#core/lifecycle/termination-mode.ts";
import { CAPACITY_TYPE, NODE_POOL } from "#core/model/labels.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { ClusterDeps } from "./cluster-deps.ts";

/**
 * Counts an unhealthy node that goes
 * (karpenter: pkg/controllers/disruption/metrics.go, NodeClaimsUnhealthyDisruptedTotal).
 * @param drainMs what its repair allows for the drain at most, ms
 */
export function countRepair(
  { metadata: { labels }, spec, status }: NodeClaim,
  { condition, drainMs }: { readonly condition: string; readonly drainMs?: number },
  { metrics }: Pick<ClusterDeps, "metrics">,
): void {
  metrics.count("nodeclaims_unhealthy_disrupted_total", {
    condition: snakeCase(condition),
    nodepool: labels?.[NODE_POOL] ?? "",
    capacity_type: labels?.[CAPACITY_TYPE] ?? "",
    image_id: status?.imageID ?? "",
    termination_mode: terminationMode(spec.terminationGracePeriod, drainMs),
  });
}
